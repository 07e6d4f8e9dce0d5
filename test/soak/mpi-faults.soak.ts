import { expect, it } from 'vitest'
import { expectedEnds, titleOf } from '../support/faults/fault-end.js'
import { rowsOf } from '../support/faults/fault-rows.js'
import { runMpiFault } from '../support/faults/mpi-fault-case.js'
import { describeMpi } from '../support/mpi.js'
import { sampled } from '../support/soak.js'

describeMpi('soak: a fault', (mpi) => {
  // Each row on one of the two, so that each fault and each operation is met on both.
  const isHere = (n: number) => (n + Math.floor(n / 10)) % 2 === (mpi.name === 'MPICH' ? 0 : 1)
  const all = rowsOf('mpi')
  const rows = all.filter(({ fault }, n) => fault !== 'detached array' && isHere(n))
  const detached = all.filter(({ fault }) => fault === 'detached array')
  it.each([...sampled(rows, 3), ...detached].map((row) => [titleOf(row), row] as const))(
    '%s',
    async (_, row) => {
      expect(expectedEnds(row)).toContainEqual(await runMpiFault(mpi, row))
    },
  )
})
