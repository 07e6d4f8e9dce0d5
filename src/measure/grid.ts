import { RankweaveError } from '../errors.js'
import type { Collective } from '../schedule/specification.js'
import type { ElementType } from '../tuning/measured/measurement.js'
import { isReduction, type TuningCall } from '../tuning/settings/tuning-call.js'
import type { EvenSpread } from './spread.js'

export const measuredOperation = 'sum'

export type MeasuredOrder = 'tree' | 'any'

export interface CallGrid {
  readonly collectives: readonly Collective[]
  readonly spreads: readonly EvenSpread[]
  /** The bytes of the data that MPI's count describes. */
  readonly bytes: readonly number[]
  readonly elementType: ElementType
  /** The weakest orders of combination that serve a reduction. */
  readonly orders: readonly MeasuredOrder[]
  /** The most bytes of an array in a process; calls with longer ones are left out. */
  readonly longestArrayBytes: number
}

/** The collectives in which a process holds a block of every other. */
const blocked: readonly Collective[] = ['scatter', 'gather', 'allgather', 'alltoall', 'reduce-scatter']

export function elementBytes(type: ElementType): number {
  return type === 'float64' ? 8 : 4
}

/** Returns the bytes of the longest array that a process of a call holds. */
export function longestArray({ collective, nodes, processesPerNode, bytes }: TuningCall): number {
  return blocked.includes(collective) ? bytes * nodes * processesPerNode : bytes
}

/**
 * Returns the calls of a grid, spread by spread and there by collective, order and bytes. A barrier has one, of 0
 * bytes. Lengths that are not a multiple of an element have no reductions.
 *
 * @throws ERR_MEASUREMENT if nothing is left to measure
 */
export function gridCalls(grid: CallGrid): TuningCall[] {
  const calls = grid.spreads.flatMap((spread) =>
    grid.collectives.flatMap((collective) => {
      const bytes = collective === 'barrier' ? [0] : grid.bytes
      return isReduction(collective)
        ? reductionCalls(grid, spread, collective)
        : bytes.map((length) => ({ collective, ...spread, bytes: length }))
    }),
  )
  const left = calls.filter((call) => longestArray(call) <= grid.longestArrayBytes)
  if (left.length === 0) throw new RankweaveError('ERR_MEASUREMENT', nothingLeft(grid, calls.length))
  return left
}

function nothingLeft({ spreads, elementType, longestArrayBytes }: CallGrid, calls: number): string {
  const expected = 'expected calls to measure, got none:'
  if (spreads.length === 0) return `${expected} there is one process only`
  if (calls === 0)
    return `${expected} no length is a multiple of ${elementType}, ${elementBytes(elementType)} B`
  return `${expected} each has an array of more than ${longestArrayBytes} B in a process`
}

function reductionCalls(
  { orders, bytes, elementType }: CallGrid,
  spread: EvenSpread,
  collective: Collective,
): TuningCall[] {
  const lengths = bytes.filter((length) => length > 0 && length % elementBytes(elementType) === 0)
  return orders.flatMap((order) =>
    lengths.map((length) => ({ collective, ...spread, bytes: length, operation: measuredOperation, order })),
  )
}

/** Returns the powers of two from the first that is not below `from` to the last that is not above `to`. */
export function powersOfTwo(from: number, to: number): number[] {
  const values: number[] = []
  for (let value = 1; value <= to; value *= 2) if (value >= from) values.push(value)
  return values
}
