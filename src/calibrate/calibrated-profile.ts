import {
  assumed,
  inProcess,
  type MessageCosts,
  type MessageTables,
  type Origin,
  type Profile,
} from '../machine/profile.js'
import type { Calibration, MeasuredFigure, MeasuredMessages, MeasuredTables } from './calibrate.js'

interface ProfileLabel {
  /** The name: letters, digits and hyphens. */
  readonly name: string
  /** The machine, the fabric and the date. */
  readonly source: string
  /** The limit of the world that was measured. */
  readonly eagerLimitBytes: number
  /** Whether the limit was measured, too. Default: it is an option of the world. */
  readonly isLimitMeasured?: boolean
}

/**
 * Returns the medians of a calibration as a profile. A level without a pair of processes is assumed to cost as much as
 * the level measured; packages of a node are not distinguished.
 */
export function calibratedProfile(calibration: Calibration, label: ProfileLabel): Profile {
  const { node, network, nodeTables, networkTables } = calibration
  const { copyBlockNs, copyNsPerByte, reduceNsPerByte } = calibration
  const exceptions: Record<string, Origin> = {
    'levels.process': assumed('ranks of one process share memory: nothing is sent'),
  }
  if (node === null) {
    exceptions['levels.package'] = assumed('as between nodes: no two processes were on one node')
    exceptions['levels.node'] = exceptions['levels.package']
  } else exceptions['levels.package'] = assumed('as levels.node: packages were not distinguished')
  if (network === null) exceptions['levels.network'] = assumed('as levels.node: there was one node')
  exceptions['hop'] = assumed('no separate latency, at the bandwidth of levels.network')
  if (label.isLimitMeasured !== true)
    exceptions['eagerLimitBytes'] = { provenance: 'given', source: 'option of the world that was measured' }
  for (const [level, measured] of [
    ['node', node],
    ['network', network],
  ] as const) {
    for (const [key, figure] of Object.entries(measured ?? {})) {
      if (figure.median <= 0)
        exceptions[`levels.${level}.${key}`] = assumed(
          'too small to measure, or hidden by what else was done',
        )
    }
  }
  const near = costsOf((node ?? network)!, nodeTables ?? networkTables)
  const far = costsOf((network ?? node)!, networkTables ?? nodeTables)
  return {
    name: label.name,
    source: label.source,
    provenance: 'measured',
    exceptions,
    levels: { process: inProcess, package: near, node: near, network: far },
    hop: { latencyNs: 0, nsPerByte: far.nsPerByte },
    memory: {
      copyNsPerByte: rounded(copyNsPerByte.median),
      copyBlockNs: rounded(copyBlockNs.median),
      reduceNsPerByte: rounded(reduceNsPerByte.median),
    },
    eagerLimitBytes: label.eagerLimitBytes,
  }
}

function costsOf(measured: MeasuredMessages, tables: MeasuredTables | null): MessageCosts {
  return {
    latencyNs: rounded(measured.latencyNs.median),
    sendOverheadNs: rounded(measured.sendOverheadNs.median),
    receiveOverheadNs: rounded(measured.receiveOverheadNs.median),
    gapNs: rounded(measured.gapNs.median),
    nsPerByte: rounded(measured.nsPerByte.median),
    ...(tables === null ? {} : { plogp: tablesOf(tables) }),
  }
}

/**
 * Returns tables without the effects of noise: a longer message costs no less than a shorter one, and g is no less than
 * either overhead.
 */
function tablesOf(measured: MeasuredTables): MessageTables {
  const rising = (figures: readonly MeasuredFigure[]) => nearestRising(figures.map(({ median }) => median))
  const [sends, receives] = [rising(measured.sendOverheadNs), rising(measured.receiveOverheadNs)]
  const gaps = rising(measured.gapNs).map((gap, i) => Math.max(gap, sends[i], receives[i]))
  return {
    latencyNs: rounded(measured.latencyNs.median),
    sizesBytes: measured.sizesBytes,
    gapNs: gaps.map(rounded),
    sendOverheadNs: sends.map(rounded),
    receiveOverheadNs: receives.map(rounded),
  }
}

/**
 * Returns the values that never fall and are nearest to the given ones in the least squares: the mean of neighbors that
 * fall.
 *
 * @see Ayer et al. 1955, An empirical distribution function for sampling with incomplete information
 */
function nearestRising(values: readonly number[]): readonly number[] {
  const runs: { readonly sum: number; readonly count: number }[] = []
  for (const value of values) {
    let run = { sum: value, count: 1 }
    for (let last = runs.at(-1); last !== undefined && last.sum / last.count > run.sum / run.count; ) {
      run = { sum: last.sum + run.sum, count: last.count + run.count }
      runs.pop()
      last = runs.at(-1)
    }
    runs.push(run)
  }
  return runs.flatMap(({ sum, count }) => new Array<number>(count).fill(sum / count))
}

/** Rounds to four digits; further ones would not be measured. */
function rounded(value: number): number {
  return Number(value.toPrecision(4))
}
