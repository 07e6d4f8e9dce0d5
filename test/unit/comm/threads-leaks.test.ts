import { expect, it } from 'vitest'
import { counted, heldAround } from '../../support/leaks.js'

it('30 worlds on threads that ended in all kinds of ways leave nothing behind', async () => {
  const { before, after } = await heldAround(30)
  expect(counted(after)).toEqual(counted(before))
  // Two more were seen after 150 worlds, why is open; one per world would be a leak of ours.
  expect(after.files - before.files).toBeLessThan(6)
  // The rings of one world have several MiB.
  expect(after.sharedBytes - before.sharedBytes).toBeLessThan(2 ** 18)
  expect(after.heapBytes - before.heapBytes).toBeLessThan(2 ** 20)
})
