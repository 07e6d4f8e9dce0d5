import { expect, it } from 'vitest'
import { counted, heldAround } from '../support/leaks.js'

it('1,000 worlds on threads that ended in all kinds of ways leave nothing behind', async () => {
  const { before, after } = await heldAround(1000)
  console.log(JSON.stringify({ before, after }))
  expect(counted(after)).toEqual(counted(before))
  expect(after.sharedBytes - before.sharedBytes).toBeLessThan(2 ** 18)
  // Well below what one world holds.
  expect(after.heapBytes - before.heapBytes).toBeLessThan(2 ** 20)
  // A world that stayed would take some MiB.
  expect(after.residentBytes - before.residentBytes).toBeLessThan(128 * 2 ** 20)
})
