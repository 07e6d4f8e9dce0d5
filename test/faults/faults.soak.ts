import { describe, expect, it } from 'vitest'
import { expectedEnd, expectedEnds, titleOf } from '../support/faults/fault-end.js'
import { type FaultRow, operations, quarterOf, rowsOf } from '../support/faults/fault-rows.js'
import { runMpiFault } from '../support/faults/mpi-fault-case.js'
import { runThreadsFault } from '../support/faults/threads-fault-case.js'
import { isSilent, runWebSocketFault } from '../support/faults/websocket-fault-case.js'
import { describeMpi } from '../support/mpi.js'

const titled = (rows: readonly FaultRow[]) => rows.map((row) => [titleOf(row), row] as const)

describe('a fault on threads', () => {
  it.each(titled(quarterOf(rowsOf('threads'))))('%s', async (_, row) => {
    expect(await runThreadsFault(row)).toEqual(expectedEnd(row))
  })
})

describe('a fault on websocket', () => {
  const rows = quarterOf(rowsOf('websocket'))

  it.each(titled(rows.filter((row) => !isSilent(row))))('%s', async (_, row) => {
    expect(await runWebSocketFault(row)).toEqual(expectedEnd(row))
  })

  // These wait for silence most of the time, so some run at the same time.
  it.concurrent.each(titled(rows.filter((row) => isSilent(row))))('%s', async (_, row) => {
    expect(await runWebSocketFault(row)).toEqual(expectedEnd(row))
  })
})

describeMpi('a fault', (mpi) => {
  // Each row on one of the two, so that each fault and each operation is met on both.
  const isHere = (n: number) => (n + Math.floor(n / operations.length)) % 2 === (mpi.name === 'MPICH' ? 0 : 1)
  const all = rowsOf('mpi')
  const here = new Set(all.filter((_, n) => isHere(n)))
  const rows = quarterOf(all).filter((row) => row.fault !== 'detached array' && here.has(row))
  const detached = all.filter(({ fault }) => fault === 'detached array')
  it.each(titled([...rows, ...detached]))('%s', async (_, row) => {
    expect(expectedEnds(row)).toContainEqual(await runMpiFault(mpi, row))
  })
})
