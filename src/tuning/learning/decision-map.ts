import { RankweaveError } from '../../errors.js'
import { bestEntry, type MeasuredData } from '../measured/measured-data.js'
import type { TuningSetting } from '../settings/setting.js'
import { callKind, callProcesses, callText, type TuningCall } from '../settings/tuning-call.js'

/**
 * The setting of every cell of a grid of processes and bytes. Calls are of one kind, with one spread over nodes for
 * each number of processes.
 *
 * Shape: `choice[row * bytes.length + column]` is of `layouts[row]` and `bytes[column]`.
 *
 * @see Pjesivac-Grbovic 2007 §5.1, Fig. 5.2
 */
export interface DecisionMap {
  /** A call of this kind; its sizes are those of the first cell. */
  readonly kind: TuningCall
  /** The layouts by ascending number of processes, each once. */
  readonly layouts: readonly ProcessLayout[]
  /** The lengths, ascending, each once. */
  readonly bytes: readonly number[]
  readonly settings: readonly TuningSetting[]
  /** The index of the setting; -1 if nothing was measured. Length: layouts x bytes. */
  readonly choice: Int32Array
}

interface ProcessLayout {
  readonly nodes: number
  readonly processesPerNode: number
}

/** The most cells of a map, so that grids with gaps take bounded memory: 64 MiB. */
const mostMapCells = 2 ** 24

/**
 * Returns the exact map of a data set: the best measured setting of every cell, of equal times the lowest.
 *
 * @throws ERR_TUNING for calls of several kinds, for several spreads of one number of processes over nodes
 *   (`selectCalls` takes some of the calls), and for a grid of more than 2^24 cells
 */
export function decisionMap(data: MeasuredData): DecisionMap {
  return decidedMap(data, (_, row) => data.setting[bestEntry(data, row)])
}

/**
 * Returns the map of decisions at the calls of a data set; -1 if nothing was measured. Throws as {@link decisionMap}
 * does.
 */
export function decidedMap(
  data: MeasuredData,
  select: (call: TuningCall, row: number) => number,
): DecisionMap {
  const { calls, settings } = data
  const [kind] = calls
  if (kind === undefined) throw new RankweaveError('ERR_TUNING', 'expected a call at least, got none')
  const layouts = new Map<number, ProcessLayout>()
  for (const call of calls) {
    requireSameKind(kind, call)
    const { nodes, processesPerNode } = call
    const known = layouts.get(callProcesses(call))
    if (known !== undefined && known.nodes !== nodes) throw twoSpreads(known, call)
    layouts.set(callProcesses(call), { nodes, processesPerNode })
  }
  const processes = [...layouts.keys()].sort((a, b) => a - b)
  const bytes = [...new Set(calls.map((call) => call.bytes))].sort((a, b) => a - b)
  if (processes.length * bytes.length > mostMapCells) throw tooManyCells(processes.length, bytes.length)
  const rowOf = new Map(processes.map((count, row) => [count, row]))
  const columnOf = new Map(bytes.map((size, column) => [size, column]))
  const choice = new Int32Array(processes.length * bytes.length).fill(-1)
  calls.forEach((call, row) => {
    const cell = rowOf.get(callProcesses(call))! * bytes.length + columnOf.get(call.bytes)!
    choice[cell] = select(call, row)
  })
  return { kind, layouts: processes.map((count) => layouts.get(count)!), bytes, settings, choice }
}

/** Returns the number of cells without a decision. */
export function missingCells({ choice }: DecisionMap): number {
  return choice.reduce((count, setting) => count + (setting < 0 ? 1 : 0), 0)
}

/**
 * Returns the map with a decision in every cell. A cell without one takes that of the nearest cell of its row, of two
 * equally near ones that of fewer bytes. A row without any takes the nearest row, of two the one of fewer processes.
 * Distances count cells.
 *
 * @throws ERR_TUNING for a map without any decision
 */
export function filledMap(map: DecisionMap): DecisionMap {
  const columns = map.bytes.length
  const rows = map.layouts.map((_, row) =>
    filled([...map.choice.subarray(row * columns, (row + 1) * columns)]),
  )
  const known = rows.map((row) => row !== null)
  if (!known.includes(true))
    throw new RankweaveError('ERR_TUNING', 'expected a map with a decision, got none')
  const near = nearestKnown(known)
  const choice = rows.flatMap((row, at) => row ?? rows[near[at]]!)
  return { ...map, choice: Int32Array.from(choice) }
}

function filled(row: readonly number[]): readonly number[] | null {
  const known = row.map((setting) => setting >= 0)
  if (!known.includes(true)) return null
  return nearestKnown(known).map((at) => row[at])
}

/**
 * Returns, for every place, the nearest that is known, itself or another, of two the lower one. At least one is known.
 */
function nearestKnown(known: readonly boolean[]): readonly number[] {
  let before = Number.NEGATIVE_INFINITY
  const lower = known.map((isKnown, at) => {
    if (isKnown) before = at
    return before
  })
  const near = [...lower]
  let after = Number.POSITIVE_INFINITY
  for (let at = known.length - 1; at >= 0; at--) {
    if (known[at]) after = at
    if (after - at < at - lower[at]) near[at] = after
  }
  return near
}

function requireSameKind(a: TuningCall, b: TuningCall): void {
  if (callKind(a) === callKind(b)) return
  const message = `expected calls of one kind, got ${callText(a)} and ${callText(b)}`
  throw new RankweaveError('ERR_TUNING', message)
}

function twoSpreads(known: ProcessLayout, { nodes, processesPerNode }: TuningCall): RankweaveError {
  const spreads = `${known.nodes} x ${known.processesPerNode} and ${nodes} x ${processesPerNode}`
  const message = `expected one spread over nodes for ${nodes * processesPerNode} processes, got ${spreads}`
  return new RankweaveError('ERR_TUNING', message)
}

function tooManyCells(rows: number, columns: number): RankweaveError {
  const message = `expected a grid of at most ${mostMapCells} cells, got ${rows} x ${columns}`
  return new RankweaveError('ERR_TUNING', message)
}
