import { expect, it } from 'vitest'
import { counted, heldAround } from '../../support/leaks.js'

it('11 worlds on threads that ended in different ways leave nothing behind', async () => {
  const { before, after } = await heldAround(11)
  expect(counted(after)).toEqual(counted(before))
  // The rings of one world have several MiB.
  expect(after.sharedBytes - before.sharedBytes).toBeLessThan(2 ** 18)
  expect(after.heapBytes - before.heapBytes).toBeLessThan(2 ** 20)
})
