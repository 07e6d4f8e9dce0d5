import { expect, it } from 'vitest'
import { expectedEnd, titleOf } from '../support/faults/fault-end.js'
import { rowsOf } from '../support/faults/fault-rows.js'
import { runMpiFault } from '../support/faults/mpi-fault-case.js'
import { describeMpi } from '../support/mpi.js'
import { sampled } from '../support/soak.js'

describeMpi('soak: a fault', (mpi) => {
  // Each row on one of the two, so that each fault and each operation is met on both.
  const rows = rowsOf('mpi').filter((_, n) => (n + Math.floor(n / 10)) % 2 === (mpi.name === 'MPICH' ? 0 : 1))
  it.each(sampled(rows, 3).map((row) => [titleOf(row), row] as const))('%s', async (_, row) => {
    expect(await runMpiFault(mpi, row)).toEqual(expectedEnd(row))
  })
})
