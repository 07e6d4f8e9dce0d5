import { writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { RankweaveError } from '../../../../src/errors.js'
import { storeError, storing } from '../../../../src/service/store/storing.js'

it('what the system refuses is an error of the store, without the path', async () => {
  const full = storing(async () => writeFileSync('/dev/full', 'x'))
  await expect(full).rejects.toMatchObject({
    code: 'ERR_STORE',
    message: 'the data cannot be read or written: ENOSPC: no space left on device',
  })
  const missing = await storing(() => open('/nowhere/secret')).catch((error: unknown) => error)
  expect(missing).toMatchObject({ code: 'ERR_STORE', cause: { code: 'ENOENT' } })
  expect((missing as Error).message).not.toContain('secret')
})

it('anything else is what it was', async () => {
  const own = new RankweaveError('ERR_LIMIT', 'too much')
  const defect = new TypeError('x is not a function')
  const cut = Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
  for (const error of [own, defect, cut]) expect(storeError(error)).toBe(error)
  expect(await storing(async () => 7)).toBe(7)
})
