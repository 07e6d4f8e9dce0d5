import { expect, it } from 'vitest'
import { counted, heldAround } from '../support/leaks.js'
import { demanded } from '../support/soak.js'

const worlds = demanded(165, 33)

it(`${worlds} worlds on threads that ended in all kinds of ways leave nothing behind`, async () => {
  const { before, after } = await heldAround(worlds)
  console.log(JSON.stringify({ before, after }))
  expect(counted(after)).toEqual(counted(before))
  expect(after.sharedBytes - before.sharedBytes).toBeLessThan(2 ** 18)
  // Well below what one world holds.
  expect(after.heapBytes - before.heapBytes).toBeLessThan(2 ** 19)
  // A world that stayed would take some MiB.
  expect(after.residentBytes - before.residentBytes).toBeLessThan(64 * 2 ** 20)
})
