import { entriesByRow, rowStarts } from '../../topology/compressed-rows.js'
import { opKind, type Schedule } from '../ir.js'
import type { PhaseRows } from '../walk.js'
import type { ViolationList } from './violations.js'

/**
 * Checks that every rank finishes if a send completes only after its receive is posted.
 *
 * @returns all rows, each after those of its rank before it and after those that precede the rows at the other ends of
 *   its messages; if ranks wait forever, the rows of the other ranks come first.
 */
export function checkProgress(
  schedule: Schedule,
  rows: PhaseRows,
  partner: Int32Array,
  found: ViolationList,
): Int32Array {
  const count = rows.rank.length
  if (isAligned(schedule, partner) && schedule.phases <= 4 * count + 1024) return byPhase(schedule, rows)
  const waits = new Int32Array(count)
  const order = new Int32Array(count)
  let finished = finishedRows(rows, partner, waits, order)
  if (finished === count) return order
  const cycle = cycleAmong(rows, partner, waits)
  const [first] = cycle
  found.add('deadlock', rows.rank[first], rows.phase[first], () => {
    const steps = Array.from(cycle, (row) => `rank ${rows.rank[row]} in phase ${rows.phase[row]}`)
    const shown = steps.length > 12 ? [...steps.slice(0, 12), `... ${steps.length} in all`] : steps
    return `no rank can proceed: ${shown.join(' waits for ')} waits for ${steps[0]}`
  })
  for (let row = 0; row < count; row++) if (waits[row] > 0) order[finished++] = row
  return order
}

/**
 * Orders rows by phase: if every message is sent and received in the same phase, all ranks finish phase after phase.
 */
function byPhase({ phases }: Schedule, { phase }: PhaseRows): Int32Array {
  return entriesByRow(rowStarts(phases, phase), phase)
}

/** Whether every message is sent and received in the same phase. */
function isAligned({ opPhase, opKind: kinds }: Schedule, partner: Int32Array): boolean {
  for (let op = 0; op < partner.length; op++) {
    if (kinds[op] === opKind.send && partner[op] !== -1 && opPhase[op] !== opPhase[partner[op]]) return false
  }
  return true
}

/**
 * Finds the rows that finish under rendezvous. A rank finishes a phase once it has finished the one before, and every
 * peer of the phase's messages has entered the phase that lists the message. Linear in operations.
 *
 * @param waits receives the number of rows for which each still waits
 * @param order receives the rows that finish, in a possible order
 * @returns the number of rows that finish
 */
function finishedRows(rows: PhaseRows, partner: Int32Array, waits: Int32Array, order: Int32Array): number {
  const count = rows.rank.length
  // `waits[row]` counts the rows before it that must finish first; dependents are found through the same partners.
  forEachWait(rows, partner, (row) => waits[row]++)
  const dependentStart = new Int32Array(count + 1)
  forEachWait(rows, partner, (_, on) => dependentStart[on + 1]++)
  for (let row = 0; row < count; row++) dependentStart[row + 1] += dependentStart[row]
  const dependents = new Int32Array(dependentStart[count])
  const next = dependentStart.slice()
  forEachWait(rows, partner, (row, on) => {
    dependents[next[on]++] = row
  })

  let finished = 0
  for (let row = 0; row < count; row++) if (waits[row] === 0) order[finished++] = row
  for (let done = 0; done < finished; done++) {
    const row = order[done]
    for (let d = dependentStart[row]; d < dependentStart[row + 1]; d++) {
      const dependent = dependents[d]
      if (--waits[dependent] === 0) order[finished++] = dependent
    }
  }
  return finished
}

/**
 * Visits the waits of rows: a row waits for the row of its rank before it, and for those before the rows at the other
 * ends of its messages.
 */
function forEachWait(
  { opStart, rank, ofOperation }: PhaseRows,
  partner: Int32Array,
  visit: (row: number, on: number) => void,
): void {
  const isFirst = (row: number): boolean => row === 0 || rank[row - 1] !== rank[row]
  for (let row = 0; row < rank.length; row++) {
    if (!isFirst(row)) visit(row, row - 1)
    for (let op = opStart[row]; op < opStart[row + 1]; op++) {
      if (partner[op] === -1) continue
      const other = ofOperation[partner[op]]
      if (!isFirst(other)) visit(row, other - 1)
    }
  }
}

/** Finds a cycle: every unfinished row waits for an unfinished one, so following the waits reaches it. */
function cycleAmong(rows: PhaseRows, partner: Int32Array, waits: Int32Array): Int32Array {
  const waitsFor = new Map<number, number>()
  forEachWait(rows, partner, (row, on) => {
    if (waits[row] > 0 && waits[on] > 0 && !waitsFor.has(row)) waitsFor.set(row, on)
  })
  const position = new Map<number, number>()
  const path: number[] = []
  let row = waitsFor.keys().next().value!
  while (!position.has(row)) {
    position.set(row, path.length)
    path.push(row)
    row = waitsFor.get(row)!
  }
  return Int32Array.from(path.slice(position.get(row)!))
}
