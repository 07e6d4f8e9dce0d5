import { describe, expect, it } from 'vitest'
import { expectedEnd, titleOf } from '../support/faults/fault-end.js'
import { rowsOf, thirdOf } from '../support/faults/fault-rows.js'
import { runThreadsFault } from '../support/faults/threads-fault-case.js'
import { isSoak, sampled } from '../support/soak.js'

/** In `npm test`: each fault but a detached array, during different operations; a third of all in soak. */
const rows = isSoak ? thirdOf(rowsOf('threads')) : sampled(rowsOf('threads'), 11)

describe('a fault on threads', () => {
  it.each(rows.map((row) => [titleOf(row), row] as const))('%s', async (_, row) => {
    expect(await runThreadsFault(row)).toEqual(expectedEnd(row))
  })
})
