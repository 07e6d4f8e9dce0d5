import { isRankweaveError } from '../../errors.js'
import type { Communicator } from '../../handles/communicator.js'
import { type CallGrid, defaultSpreads, type EvenSpread, gridCalls } from '../../measure/grid.js'
import type { StoppingRule } from '../../measure/measure-calls.js'
import { type MeasuredPoints, measureInto, progressLines } from '../../measure/measure-calls.js'
import type { Meter } from '../../measure/meter.js'
import { requireNamed, restrictedTo } from '../../measure/meter.js'
import { type WorldMeterOptions, worldMeter } from '../../measure/world-meter.js'
import type { TuningCall } from '../../tuning/settings/tuning-call.js'

export interface MeasureProblem extends WorldMeterOptions {
  readonly file: string
  /** The grid; spreads that are left out are the default ones of the processes. */
  readonly grid: Omit<CallGrid, 'spreads'> & { readonly spreads: readonly EvenSpread[] | null }
  /** The texts of the settings to measure; null for all. */
  readonly algorithms: readonly string[] | null
  readonly rule: StoppingRule
  readonly showsProgress: boolean
}

export interface MeasuredWorld {
  /** The processes that are spread evenly, of which spreads are parts. */
  readonly largest: EvenSpread
  /** The measured points; null if a spread does not fit, and if the grid is refused. */
  readonly points: MeasuredPoints | null
  /** The reason why the named algorithms are refused; null if they are not. */
  readonly refusal: string | null
  /** The texts of named algorithms that serve no call. */
  readonly idle: readonly string[]
}

/** Runs `rankweave measure` on every rank; rank 0 writes the file. */
export default async function main(
  world: Communicator,
  { file, grid, algorithms, rule, showsProgress, ...options }: MeasureProblem,
): Promise<MeasuredWorld | null> {
  const meter = await worldMeter(world, options)
  if (meter === null) return null
  const { nodes, processesPerNode } = meter.spread
  const largest = { nodes, processesPerNode }
  const spreads = grid.spreads ?? defaultSpreads(largest)
  const isFitting = spreads.every(
    (spread) => spread.nodes <= nodes && spread.processesPerNode <= processesPerNode,
  )
  const calls = isFitting ? gridCalls({ ...grid, spreads }) : []
  const named = namedOf(meter, algorithms, calls)
  let points: MeasuredPoints | null = null
  if (isFitting && named.refusal === null) {
    const onCall = showsProgress ? progressLines((line) => void process.stderr.write(`${line}\n`)) : undefined
    points = await measureInto(file, restrictedTo(meter, algorithms), calls, {
      rule,
      elementType: options.elementType,
      ...(onCall === undefined ? {} : { onCall }),
    })
  }
  await meter.close()
  return { largest, points, ...named }
}

/** Checks the named settings and returns a refusal; an error would be the failure of the world. */
function namedOf(
  meter: Meter,
  algorithms: readonly string[] | null,
  calls: readonly TuningCall[],
): Pick<MeasuredWorld, 'refusal' | 'idle'> {
  if (calls.length === 0) return { refusal: null, idle: [] }
  try {
    return { refusal: null, idle: requireNamed(meter, algorithms, calls) }
  } catch (error) {
    if (!isRankweaveError(error, 'ERR_MEASUREMENT')) throw error
    return { refusal: error.message, idle: [] }
  }
}
