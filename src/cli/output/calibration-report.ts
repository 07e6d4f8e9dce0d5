import type { Calibration, MeasuredFigure, MeasuredMessages } from '../../calibrate/calibrate.js'
import { columns } from './reporter.js'

/** What `rankweave calibrate` prints: a row per figure. */
export function calibrationText({ node, network, ...memory }: Calibration): string {
  const { copyBlockNs, copyNsPerByte, reduceNsPerByte } = memory
  return columns([
    ['', 'median', 'quartiles', ''],
    ...(node === null ? [] : messageRows('node', node)),
    ...(network === null ? [] : messageRows('network', network)),
    row('copy of a block', copyBlockNs, 'ns'),
    row('copy of a byte', copyNsPerByte, 'ns'),
    row('combination of a byte', reduceNsPerByte, 'ns'),
  ])
}

function messageRows(level: string, measured: MeasuredMessages): readonly string[][] {
  return [
    row(`${level}: latency`, measured.latencyNs, 'ns'),
    row(`${level}: overhead of a send`, measured.sendOverheadNs, 'ns'),
    row(`${level}: overhead of a receive`, measured.receiveOverheadNs, 'ns'),
    row(`${level}: gap`, measured.gapNs, measured.gapNs.median === 0 ? 'ns, hidden by overheads' : 'ns'),
    row(`${level}: per byte`, measured.nsPerByte, 'ns'),
  ]
}

function row(label: string, { median, low, high }: MeasuredFigure, unit: string): string[] {
  return [label, shown(median), `${shown(low)}-${shown(high)}`, unit]
}

function shown(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
