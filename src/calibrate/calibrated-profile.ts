import { assumed, inProcess, type MessageCosts, type Origin, type Profile } from '../machine/profile.js'
import type { Calibration, MeasuredMessages } from './calibrate.js'

export interface ProfileLabel {
  /** Letters, digits and hyphens. */
  readonly name: string
  /** Which machine, fabric and date. */
  readonly source: string
  /** Of the world that was measured. */
  readonly eagerLimitBytes: number
}

/**
 * The medians of a calibration as a profile. Levels that no pair of processes was at are assumed to cost what
 * the level measured costs; packages of a node are not distinguished.
 */
export function calibratedProfile(calibration: Calibration, label: ProfileLabel): Profile {
  const { node, network, copyBlockNs, copyNsPerByte, reduceNsPerByte } = calibration
  const exceptions: Record<string, Origin> = {
    'levels.process': assumed('ranks of one process share memory: nothing is sent'),
  }
  if (node === null) {
    exceptions['levels.package'] = assumed('as between nodes: no two processes were on one node')
    exceptions['levels.node'] = exceptions['levels.package']
  } else exceptions['levels.package'] = assumed('as levels.node: packages were not distinguished')
  if (network === null) exceptions['levels.network'] = assumed('as levels.node: there was one node')
  exceptions['hop'] = assumed('no separate latency, at the bandwidth of levels.network')
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
  const near = costsOf((node ?? network)!)
  const far = costsOf((network ?? node)!)
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

function costsOf(measured: MeasuredMessages): MessageCosts {
  return {
    latencyNs: rounded(measured.latencyNs.median),
    sendOverheadNs: rounded(measured.sendOverheadNs.median),
    receiveOverheadNs: rounded(measured.receiveOverheadNs.median),
    gapNs: rounded(measured.gapNs.median),
    nsPerByte: rounded(measured.nsPerByte.median),
  }
}

/** More digits than four would not be measured. */
function rounded(value: number): number {
  return Number(value.toPrecision(4))
}
