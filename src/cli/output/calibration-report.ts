import type {
  Calibration,
  MeasuredFigure,
  MeasuredMessages,
  MeasuredTables,
} from '../../calibrate/calibrate.js'
import type { FittedProfile } from '../../calibrate/fitted-profile.js'
import type { MessageTables } from '../../machine/message-tables.js'
import { columns, counted } from './reporter.js'

/** Returns the text of `rankweave calibrate`: a row per figure, then the tables of PLogP. */
export function calibrationText({
  node,
  network,
  nodeTables,
  networkTables,
  ...memory
}: Calibration): string {
  const { copyBlockNs, copyNsPerByte, reduceNsPerByte } = memory
  const figures = columns([
    ['', 'median', 'quartiles', ''],
    ...(node === null ? [] : messageRows('node', node)),
    ...(network === null ? [] : messageRows('network', network)),
    row('copy of a block', copyBlockNs, 'ns'),
    row('copy of a byte', copyNsPerByte, 'ns'),
    row('combination of a byte', reduceNsPerByte, 'ns'),
  ])
  const tables = [
    ...(nodeTables === null ? [] : [tableText('node', nodeTables)]),
    ...(networkTables === null ? [] : [tableText('network', networkTables)]),
  ]
  return [figures, ...tables].join('\n\n')
}

/** Returns the text of `rankweave calibrate --fit`: the tables of each level, with the errors of the fit. */
export function fitText({ profile, levels }: FittedProfile): string {
  const percent = (error: number) => `${(100 * error).toFixed(1)}%`
  const texts = levels.map(({ level, tables, chains, barriers, worstError, medianError, heldSizes }) => {
    const times = `${counted(chains, 'broadcast', 'broadcasts')} and ${counted(barriers, 'barrier', 'barriers')}`
    const errors = `median error ${percent(medianError)}, largest ${percent(worstError)}`
    const held = heldSizes.map((size) => counted(size, 'byte', 'bytes')).join(', ')
    const notes = [
      ...(held === ''
        ? []
        : [`\n  g of ${held} is the longer overhead: the times alone would have it below`]),
      ...(profile.levels[level].latencyNs > 0
        ? []
        : ['\n  L of LogGP is 0: a message is no longer than its overheads']),
    ]
    return `${level}: fitted to ${times}; ${errors}\n${tablesText(`${level}, by length`, tables)}${notes.join('')}`
  })
  return [profile.name, ...texts].join('\n\n')
}

function tableText(level: string, measured: MeasuredTables): string {
  const medians = (figures: readonly MeasuredFigure[]) => figures.map(({ median }) => median)
  return tablesText(`${level}, by length`, {
    latencyNs: measured.latencyNs.median,
    sizesBytes: measured.sizesBytes,
    gapNs: medians(measured.gapNs),
    sendOverheadNs: medians(measured.sendOverheadNs),
    receiveOverheadNs: medians(measured.receiveOverheadNs),
  })
}

function tablesText(label: string, tables: MessageTables): string {
  const { sizesBytes, latencyNs, gapNs, sendOverheadNs, receiveOverheadNs } = tables
  const rows = sizesBytes.map((size, i) => [
    counted(size, 'byte', 'bytes'),
    ...[gapNs, sendOverheadNs, receiveOverheadNs].map((values) => shown(values[i])),
    'ns',
  ])
  const head = [label, 'g', 'o of a send', 'o of a receive', '']
  return `${columns([head, ...rows])}\n  L of PLogP: ${shown(latencyNs)} ns`
}

function messageRows(level: string, measured: MeasuredMessages): readonly string[][] {
  return [
    row(`${level}: latency`, measured.latencyNs, 'ns'),
    row(`${level}: overhead of a send`, measured.sendOverheadNs, 'ns'),
    row(`${level}: overhead of a receive`, measured.receiveOverheadNs, 'ns'),
    row(`${level}: gap`, measured.gapNs, measured.gapNs.median === 0 ? 'ns, hidden by overheads' : 'ns'),
    row(`${level}: per byte`, measured.nsPerByte, 'ns'),
    [`${level}: alpha, beta`, ...alphaBeta(measured), 'ns'],
  ]
}

/** Returns the figures of Hockney's model: the whole way of a message without bytes, and a byte. */
function alphaBeta({ latencyNs, sendOverheadNs, receiveOverheadNs, nsPerByte }: MeasuredMessages): string[] {
  const alpha = latencyNs.median + sendOverheadNs.median + receiveOverheadNs.median
  return [`${shown(alpha)}, ${shown(nsPerByte.median)}`, '']
}

function row(label: string, { median, low, high }: MeasuredFigure, unit: string): string[] {
  return [label, shown(median), `${shown(low)}-${shown(high)}`, unit]
}

function shown(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
