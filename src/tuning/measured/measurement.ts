import type { TuningSetting } from '../settings/setting.js'
import type { TuningCall } from '../settings/tuning-call.js'

/**
 * A measurement of one setting at one call: a line of a file of measurements.
 *
 * **File.** JSON Lines, UTF-8: one object a line, at most 65,536 characters each, at most 2^20 lines. A line is
 * complete by itself, so programs append to files and join them line by line. Of two lines for one setting and call,
 * the later one counts. Members that are not listed here are refused.
 *
 * ```json
 * {"version":1,"source":{"kind":"mpi","name":"Open MPI 4.1.4","machine":"grig"},"collective":"bcast",
 *  "algorithm":"pipeline","parameters":{"segment":8192},"nodes":4,"processesPerNode":2,"bytes":1048576,
 *  "timesUs":[912.5,914,913.1],"intervalUs":[912.5,914]}
 * ```
 *
 * (in a file, on one line). `operation`, `order`, `isMemoryShared` and `elementType` follow `bytes` where they are
 * stated.
 *
 * **Time.** Microseconds, above 0: of one call, from the first process that enters it to the last that leaves it, less
 * the barrier that separates repetitions. The time of a point is the median of its times.
 *
 * A setting that cannot serve a call has no line for it.
 *
 * @see Pjesivac-Grbovic 2007 §5.1, App. A.1.1
 */
export interface Measurement extends TuningCall, TuningSetting {
  readonly version: typeof measurementVersion
  readonly source: MeasurementSource
  /** The elements that a reduction combines. Absent: `float64`. */
  readonly elementType?: ElementType
  /** The times of every repetition that counts, 1 to 1,024 of them, in the order of measurement. */
  readonly timesUs: readonly number[]
  /** The 95% confidence interval of the median, `[low, high]`; both are the time if it is computed. */
  readonly intervalUs: readonly [number, number]
  /**
   * The median of the barrier that separated repetitions. It has been subtracted, and may hide as much of the call.
   * Absent if nothing was subtracted.
   */
  readonly barrierUs?: number
}

export const measurementVersion = 1

/** The elements that measured reductions combine; other collectives move bytes. */
export const elementTypes = ['float64', 'int32'] as const
export type ElementType = (typeof elementTypes)[number]

/** The conditions that measurements in one file share. */
export interface MeasuringConditions {
  readonly source: MeasurementSource
  readonly elementType: ElementType
}

/** The source of times. Times of different sources are not compared. */
export interface MeasurementSource {
  /** The kind: `rankweave` on a fabric, `mpi` for an MPI library, `simulator` and `formula` for computed times. */
  readonly kind: SourceKind
  /** The fabric, the MPI library with its version, or the model: 1 to 200 printable characters. */
  readonly name: string
  /** The machine on which they ran, or for which they are computed: 1 to 200 printable characters. */
  readonly machine: string
}

export const sourceKinds = ['rankweave', 'mpi', 'simulator', 'formula'] as const

export type SourceKind = (typeof sourceKinds)[number]

export const measurementLimits = {
  /** The most characters of a line. */
  characters: 2 ** 16,
  lines: 2 ** 20,
  times: 1024,
  /** A call takes a picosecond to eleven days, so that sums and ratios of times stay finite. */
  leastUs: 1e-6,
  mostUs: 1e12,
  sourceCharacters: 200,
} as const
