import { quantile } from '../base/search.js'
import type { MeasuredStrategy, MeasuredTime, Measurements } from './study.js'

/** The times of one start in microseconds, by run. */
export interface MeasuredRuns {
  readonly strategy: string
  readonly bytes: number
  readonly microseconds: readonly number[]
}

/** The most memory for receive buffers of all ranks; the exchange itself takes as much again. */
export const mostReceivedBytes = 2 ** 28

/**
 * Returns the lengths that can be measured: those whose blocks fit in {@link mostReceivedBytes}, one block per edge.
 */
export function measurableLengths(
  edges: number,
  bytes: readonly number[],
): { readonly bytes: readonly number[]; readonly tooLong: readonly number[] } {
  const fits = (length: number) => edges * length <= mostReceivedBytes
  return { bytes: bytes.filter(fits), tooLong: bytes.filter((length) => !fits(length)) }
}

/** Returns the runs of a fabric as part of a study: median, shortest and longest of each strategy and length. */
export function measurementsOf(
  runs: readonly MeasuredRuns[],
  place: Omit<Measurements, 'strategies'>,
): Measurements {
  const byStrategy = new Map<string, MeasuredTime[]>()
  for (const { strategy, bytes, microseconds } of runs) {
    const times = byStrategy.get(strategy) ?? []
    times.push({ bytes, ...spreadOf(microseconds) })
    byStrategy.set(strategy, times)
  }
  const strategies = [...byStrategy].map(([strategy, times]): MeasuredStrategy => ({ strategy, times }))
  return { ...place, strategies }
}

function spreadOf(values: readonly number[]): Omit<MeasuredTime, 'bytes'> {
  const sorted = values.toSorted((a, b) => a - b)
  return { medianUs: quantile(sorted, 0.5), minUs: sorted[0], maxUs: sorted[sorted.length - 1] }
}
