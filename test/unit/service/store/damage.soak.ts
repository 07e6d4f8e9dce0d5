import { createHash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { seededRandom } from '../../../../src/base/random.js'
import type { PlanRecord } from '../../../../src/service/store/database.js'
import { rehearseOpening } from '../../../../src/service/store/database.js'
import { Store } from '../../../../src/service/store/store.js'
import { silentLog } from '../../../support/silent-log.js'
import { demanded } from '../../../support/soak.js'
import { addPlan, addTopology, jobRecord } from '../../../support/stored-plans.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

const tenant = { id: 'local' }
const most = { dataBytes: 2 ** 30, entries: 100 }
const folder = temporaryFolder('damage')

/** What holds of a folder whatever was done to its files: it is refused, or all that is served is right. */
it('bits that flip anywhere in the folder are refused by a code, or what is served is right', async () => {
  const root = join(folder(), 'whole')
  let last = await Store.open(root, most, silentLog)
  const written = new Map<string, unknown>()
  for (let index = 0; index < 12; index++) {
    // Some are in tables of the engine, some in its log.
    if (index % 4 === 3) {
      await last.close()
      last = await Store.open(root, most, silentLog)
    }
    await addTopology(last, tenant, index)
    await addPlan(last, tenant, index)
    await last.putJob(tenant, jobRecord(index))
  }
  for (const shelf of ['topologies', 'plans', 'jobs'] as const)
    for (const found of last.records(shelf, tenant))
      written.set('info' in found ? found.info.id : found.id, found)
  await last.close()
  const random = seededRandom(7)
  const seen = { refused: 0, missing: 0, whole: 0 }
  for (let round = 0; round < demanded(600, 0); round++) {
    const copy = `${root}-flipped`
    rmSync(copy, { recursive: true, force: true })
    cpSync(root, copy, { recursive: true })
    const files = readdirSync(copy, { recursive: true, encoding: 'utf8' })
      .map((name) => join(copy, name))
      .filter((path) => statSync(path).isFile() && statSync(path).size > 0)
    const path = files[Math.floor(random() * files.length)]
    const bytes = readFileSync(path)
    bytes[Math.floor(random() * bytes.length)] ^= 1 << Math.floor(random() * 8)
    writeFileSync(path, bytes)
    const opening = async () => {
      await rehearseOpening(join(copy, 'records'))
      return Store.open(copy, most, silentLog)
    }
    const opened = await opening().catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'ERR_STORE' })
      return null
    })
    if (opened === null) {
      seen.refused++
      continue
    }
    let served = 0
    for (const shelf of ['topologies', 'plans', 'jobs'] as const)
      for (const found of opened.records(shelf, tenant)) {
        const id = 'info' in found ? found.info.id : found.id
        expect(found, path).toEqual(written.get(id))
        if (shelf === 'jobs') served++
        else {
          const stored = await opened.verified(shelf, tenant, id)
          if (stored === undefined) continue
          const { body } = stored.record as PlanRecord
          expect(createHash('sha256').update(readFileSync(stored.path)).digest('hex')).toBe(body.sha256)
          served++
        }
      }
    seen[served === written.size ? 'whole' : 'missing']++
    await opened.close()
  }
  expect(Math.min(seen.missing, seen.whole), JSON.stringify(seen)).toBeGreaterThan(0)
})
