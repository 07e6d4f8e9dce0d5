import { expect, it } from 'vitest'
import { expectedEnds, titleOf } from '../support/faults/fault-end.js'
import { operations, rowsOf, thirdOf } from '../support/faults/fault-rows.js'
import { runMpiFault } from '../support/faults/mpi-fault-case.js'
import { describeMpi } from '../support/mpi.js'

describeMpi('soak: a fault', (mpi) => {
  // Each row on one of the two, so that each fault and each operation is met on both.
  const isHere = (n: number) => (n + Math.floor(n / operations.length)) % 2 === (mpi.name === 'MPICH' ? 0 : 1)
  const all = rowsOf('mpi')
  const here = new Set(all.filter((_, n) => isHere(n)))
  const rows = thirdOf(all).filter((row) => row.fault !== 'detached array' && here.has(row))
  const detached = all.filter(({ fault }) => fault === 'detached array')
  it.each([...rows, ...detached].map((row) => [titleOf(row), row] as const))('%s', async (_, row) => {
    expect(expectedEnds(row)).toContainEqual(await runMpiFault(mpi, row))
  })
})
