import { expect, it } from 'vitest'
import { RankweaveError } from '../../../../src/errors.js'
import { readStored } from '../../../../src/service/http/stored-entries.js'
import { Store } from '../../../../src/service/store/store.js'
import { silentLog } from '../../../support/silent-log.js'
import { addPlan, idOf } from '../../../support/stored-plans.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

const folder = temporaryFolder('reading')
const tenant = { id: 'local' }

it('what is removed while it is read is not there; what fails for another reason fails for that', async () => {
  const store = await Store.open(folder(), { dataBytes: 2 ** 30, entries: 9 }, silentLog)
  const id = await addPlan(store, tenant, 1)
  const fails = async () => {
    throw new RankweaveError('ERR_RANK', 'expected a rank below 4')
  }
  expect(await readStored(store, 'plans', tenant, id, async ({ record }) => record.info.id)).toBe(id)
  await expect(readStored(store, 'plans', tenant, id, fails)).rejects.toMatchObject({ code: 'ERR_RANK' })
  const removed = readStored(store, 'plans', tenant, id, async () => {
    await store.remove('plans', tenant, id)
    throw new RankweaveError('ERR_FILE', 'cannot read the file')
  })
  await expect(removed).rejects.toMatchObject({ code: 'ERR_NOT_FOUND', message: `there is no plan ${id}` })
  await expect(readStored(store, 'topologies', tenant, idOf('t', 1), fails)).rejects.toMatchObject({
    code: 'ERR_NOT_FOUND',
  })
  await store.close()
})
