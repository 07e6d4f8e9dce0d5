import type { Schedule } from '../ir.js'
import type { ViolationList } from './violations.js'

/** Whether every rank finishes if a send completes only after its receive is posted. */
export function checkProgress(
  schedule: Schedule,
  rows: Int32Array,
  partner: Int32Array,
  found: ViolationList,
): void {
  const cycle = findWaitCycle(schedule, rows, partner)
  if (cycle === null) return
  const { phases } = schedule
  const first = cycle[0]
  found.add('deadlock', Math.floor(first / phases), first % phases, () => {
    const steps = Array.from(cycle, (row) => `rank ${Math.floor(row / phases)} in phase ${row % phases}`)
    const shown = steps.length > 12 ? [...steps.slice(0, 12), `... ${steps.length} in all`] : steps
    return `no rank can proceed: ${shown.join(' waits for ')} waits for ${steps[0]}`
  })
}

/**
 * A chain of ranks that wait for each other under rendezvous, or null. Rank r finishes phase f when it has finished
 * phase f - 1 and every rank that shares a message of this phase has entered the phase in which it lists the
 * message. Linear in operations and phases.
 *
 * @returns rows (`rank * phases + phase`), each waiting for the next, the last for the first.
 */
function findWaitCycle(schedule: Schedule, rows: Int32Array, partner: Int32Array): Int32Array | null {
  const { opStart, phases } = schedule
  const count = opStart.length - 1
  if (isAligned(rows, partner, phases)) return null

  // waits[row]: earlier phases that must finish first; dependents are found through the same partners.
  const waits = new Int32Array(count)
  forEachWait(schedule, rows, partner, (row) => waits[row]++)
  const dependentStart = new Int32Array(count + 1)
  forEachWait(schedule, rows, partner, (_, on) => dependentStart[on + 1]++)
  for (let row = 0; row < count; row++) dependentStart[row + 1] += dependentStart[row]
  const dependents = new Int32Array(dependentStart[count])
  const next = dependentStart.slice()
  forEachWait(schedule, rows, partner, (row, on) => {
    dependents[next[on]++] = row
  })

  const finished: number[] = []
  for (let row = 0; row < count; row++) if (waits[row] === 0) finished.push(row)
  for (let done = 0; done < finished.length; done++) {
    const row = finished[done]
    for (let d = dependentStart[row]; d < dependentStart[row + 1]; d++) {
      const dependent = dependents[d]
      if (--waits[dependent] === 0) finished.push(dependent)
    }
  }
  return finished.length === count ? null : cycleAmong(schedule, rows, partner, waits)
}

/** When every message is sent and received in the same phase, all ranks finish phase after phase. */
function isAligned(rows: Int32Array, partner: Int32Array, phases: number): boolean {
  for (let op = 0; op < partner.length; op++) {
    const other = partner[op]
    if (other !== -1 && rows[op] % phases !== rows[other] % phases) return false
  }
  return true
}

function forEachWait(
  schedule: Schedule,
  rows: Int32Array,
  partner: Int32Array,
  visit: (row: number, on: number) => void,
): void {
  const { opStart, phases } = schedule
  for (let row = 0; row + 1 < opStart.length; row++) {
    if (row % phases > 0) visit(row, row - 1)
    for (let op = opStart[row]; op < opStart[row + 1]; op++) {
      const other = partner[op]
      if (other !== -1 && rows[other] % phases > 0) visit(row, rows[other] - 1)
    }
  }
}

/** Every unfinished row waits for an unfinished one, so following the waits reaches a cycle. */
function cycleAmong(
  schedule: Schedule,
  rows: Int32Array,
  partner: Int32Array,
  waits: Int32Array,
): Int32Array {
  const waitsFor = new Map<number, number>()
  forEachWait(schedule, rows, partner, (row, on) => {
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
