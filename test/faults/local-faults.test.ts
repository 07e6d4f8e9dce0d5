import { describe, expect, it } from 'vitest'
import { expectedEnd, titleOf } from '../support/faults/fault-end.js'
import { rowsOf } from '../support/faults/fault-rows.js'
import { runLocalFault } from '../support/faults/local-fault-case.js'
import { cases } from '../support/soak.js'

describe('a fault on local', () => {
  it.each(rowsOf('local').map((row) => [titleOf(row), row] as const))('%s', async (_, row) => {
    for (let seed = 0; seed < cases(3, 1); seed++) {
      expect(await runLocalFault(row, seed)).toEqual(expectedEnd(row))
    }
  })
})
