import type {
  Cell,
  CellClass,
  CellPlot,
  Column,
  Document,
  FigureOrigin,
  Section,
  Table,
} from '../document/document.js'
import { htmlOf } from '../document/html.js'
import type { LearnedDecisions } from '../tuning/learning/learn-decisions.js'
import {
  checkGuidelines,
  type GuidelineViolation,
  guidelineBases,
  guidelineBaseText,
} from '../tuning/measured/guidelines.js'
import {
  exactSelector,
  type MeasuredData,
  measuredData,
  type SettingSelector,
} from '../tuning/measured/measured-data.js'
import type { Measurement, SourceKind } from '../tuning/measured/measurement.js'
import { type PenaltyReport, penaltyOfRow } from '../tuning/measured/penalty.js'
import { settingLine, type TuningSetting } from '../tuning/settings/setting.js'
import { callKind, callProcesses, callText, type TuningCall } from '../tuning/settings/tuning-call.js'

/** The origin of the figures of each kind of source. */
const origins: Readonly<Record<SourceKind, FigureOrigin>> = {
  ...({ rankweave: 'measured', mpi: 'measured', simulator: 'simulated', formula: 'derived' } as const),
}

/** The most violations that a page lists, the greatest factors first. */
const mostViolations = 40
/** The most kinds of calls of a collective that a page shows. */
const mostKinds = 8
/** The most cells that a page draws, in all its plots: some 30 MB. */
const mostCells = 2 ** 18

/** The origin of figures, and the system that they were measured on. */
interface Origin {
  readonly origin: FigureOrigin
  readonly source: string
}

/**
 * Reports measurements, learned decisions and their losses as one HTML page without scripts, which refers to nothing
 * outside itself.
 */
export function tuningReport(
  measurements: readonly Measurement[],
  learned: readonly LearnedDecisions[],
): Iterable<string> {
  return htmlOf(tuningDocument(measurements, learned))
}

function tuningDocument(
  measurements: readonly Measurement[],
  learned: readonly LearnedDecisions[],
): Document {
  const { kind, name, machine } = measurements[0].source
  const from: Origin = { origin: origins[kind], source: `${kind} '${name}' on '${machine}'` }
  return {
    title: `Algorithms of collectives: ${name} on ${machine}`,
    text: [
      'A setting is an algorithm with its parameters. Penalties are what a choice loses against the best measured setting of a call, in percent of the best time.',
      'Held-out points were decided by what was learned without their number of processes.',
    ],
    sections: [
      penaltySection(learned, from),
      ...collectiveSections(learned, from),
      guidelineSection(measurements, from),
    ],
  }
}

const column = (title: string): Column => ({ title })

function penaltySection(learned: readonly LearnedDecisions[], { source }: Origin): Section {
  const rows = learned.flatMap(({ collective, leaves, training, heldOut, default: byDefault }) => [
    penaltyRow(collective, 'the tree, on the training set', leaves, training),
    ...(heldOut === null
      ? []
      : [penaltyRow(collective, 'the tree, on held-out points', leaves, heldOut.heldOut)]),
    ...(byDefault === null ? [] : [penaltyRow(collective, 'the default', null, byDefault)]),
  ])
  const table: Table = {
    kind: 'table',
    title: 'Penalty in percent',
    origin: 'derived',
    source: `from times of ${source}`,
    columns: [
      ...['collective', 'decided by', 'leaves', 'calls', 'missing', 'min', 'mean', 'median', 'max'],
      'most is lost at',
    ].map(column),
    rows,
  }
  return { title: 'What decisions lose', text: [], parts: [table] }
}

function penaltyRow(collective: string, what: string, leaves: number | null, report: PenaltyReport): Cell[] {
  const { calls, missing, minPercent, meanPercent, medianPercent, maxPercent, worst } = report
  const figures = [minPercent, meanPercent, medianPercent, maxPercent]
  return [
    ...[collective, what, leaves, calls, missing],
    ...figures.map((percent) => (Number.isNaN(percent) ? null : Number(percent.toFixed(2)))),
    worst === null ? null : callText(worst),
  ]
}

function collectiveSections(learned: readonly LearnedDecisions[], from: Origin): Section[] {
  const budget = { cells: mostCells }
  return learned.map((each) => collectiveSection(each, from, budget))
}

/** @param budget cells that the page may still draw */
function collectiveSection(learned: LearnedDecisions, from: Origin, budget: { cells: number }): Section {
  const { collective, data, leaves, selectDefault } = learned
  const kinds = [...new Set(data.calls.map(callKind))]
  const shown = kinds.slice(0, mostKinds)
  const grids = shown.map((kind) => gridOf(data, kind))
  const drawn = grids.map(({ cells }) => {
    const needed = cells * (selectDefault === undefined ? 3 : 4)
    if (needed > budget.cells) return false
    budget.cells -= needed
    return true
  })
  const text = [
    `Calls: ${data.calls.length}; settings: ${data.settings.length}; leaves of the tree: ${leaves}.`,
  ]
  if (shown.length < kinds.length) text.push(`The first ${shown.length} of ${kinds.length} kinds of calls.`)
  grids.forEach(({ first, axes: { rows, bytes } }, i) => {
    const grid = `${rows.length} x ${bytes.length} cells`
    if (!drawn[i])
      text.push(`Not drawn are ${grid}${kindText(data, first)}: a page has at most ${mostCells}.`)
  })
  return {
    title: collective,
    text,
    parts: grids.flatMap((grid, i) =>
      drawn[i] ? kindPlots(learned, grid, `${collective}-${i + 1}`, from) : [],
    ),
  }
}

/** Returns the common part of the calls of a kind, after a space. */
const kindText = ({ calls }: MeasuredData, first: number) =>
  callText(calls[first]).replace(/^.*? processes/, '')

function kindPlots(learned: LearnedDecisions, grid: CallGrid, name: string, from: Origin): CellPlot[] {
  const { data, select, selectDefault } = learned
  const of = kindText(data, grid.first)
  const best = exactSelector(data)
  const chosen = (choose: SettingSelector) => grid.cellsBy((row) => choose(data.calls[row]))
  const [winners, decided] = [chosen(best), chosen(select)]
  const classes = settingClasses(data.settings, [winners, decided])
  const percents = (choose: SettingSelector) =>
    grid.cellsBy((row) => penaltyClass(penaltyOfRow(data, row, choose, selectDefault)))
  const derived: Origin = { origin: 'derived', source: `from times of ${from.source}` }
  const plot = (suffix: string, title: string): Omit<CellPlot, 'classes' | 'cells' | keyof Origin> => ({
    ...grid.axes,
    kind: 'cells',
    name: `${name}-${suffix}`,
    title: `${learned.collective}${of}: ${title}`,
  })
  const settingsOf = (cells: readonly number[]) => ({
    classes: classes.classes,
    cells: cells.map((setting) => (setting < 0 ? -1 : classes.classOf[setting])),
  })
  const lossOf = (choose: SettingSelector) => ({ classes: penaltyClasses, cells: percents(choose) })
  return [
    { ...plot('best', 'the fastest measured setting'), ...from, ...settingsOf(winners) },
    { ...plot('tree', 'what the tree chooses'), ...derived, ...settingsOf(decided) },
    { ...plot('tree-loss', 'what the tree loses'), ...derived, ...lossOf(select) },
    ...(selectDefault === undefined
      ? []
      : [{ ...plot('default-loss', 'what the default loses'), ...derived, ...lossOf(selectDefault) }]),
  ]
}

/** The calls of one kind as cells: a row for each layout of processes, a column for each length. */
interface CallGrid {
  readonly cells: number
  readonly axes: Pick<CellPlot, 'bytes' | 'rows' | 'yLabel'>
  /** The row of the data that holds its first call. */
  readonly first: number
  /** @param value of a row of the data; -1 if nothing was measured */
  cellsBy(value: (row: number) => number): readonly number[]
}

function gridOf(data: MeasuredData, kind: string): CallGrid {
  const rows = [...data.calls.keys()].filter((row) => callKind(data.calls[row]) === kind)
  const bytes = [...new Set(rows.map((row) => data.calls[row].bytes))].sort((a, b) => a - b)
  const layoutOf = ({ nodes, processesPerNode }: TuningCall) => `${nodes} x ${processesPerNode}`
  const layouts = [...new Map(rows.map((row) => [layoutOf(data.calls[row]), data.calls[row]])).values()].sort(
    (a, b) => callProcesses(a) - callProcesses(b) || a.nodes - b.nodes,
  )
  const place = new Map(layouts.map((layout, i) => [layoutOf(layout), i]))
  const columnOf = new Map(bytes.map((size, i) => [size, i]))
  return {
    cells: layouts.length * bytes.length,
    axes: { bytes, rows: layouts.map(layoutOf), yLabel: 'nodes x processes per node' },
    first: rows[0],
    cellsBy: (value) => {
      const cells = new Array<number>(layouts.length * bytes.length).fill(-1)
      for (const row of rows) {
        const call = data.calls[row]
        cells[place.get(layoutOf(call))! * bytes.length + columnOf.get(call.bytes)!] = value(row)
      }
      return cells
    },
  }
}

/** Classes from light to dark, which differ without their colors, too. */
const penaltyClasses = [
  { name: 'at most 1%', color: '#fff7bc', mark: '' },
  { name: 'at most 5%', color: '#fec44f', mark: '5' },
  { name: 'at most 20%', color: '#ec7014', mark: '20' },
  { name: 'at most 100%', color: '#a63603', mark: '100' },
  { name: 'more than 100%', color: '#4d1a00', mark: '!' },
] as const
const penaltyLimits = [1, 5, 20, 100]

function penaltyClass(percent: number): number {
  if (Number.isNaN(percent)) return -1
  const at = penaltyLimits.findIndex((limit) => percent <= limit)
  return at < 0 ? penaltyLimits.length : at
}

function guidelineSection(measurements: readonly Measurement[], { source }: Origin): Section {
  const data = measuredData(measurements)
  const { bases, select } = guidelineBases(data)
  const violations = checkGuidelines(data, select)
  const table: Table = {
    kind: 'table',
    title: 'Guidelines violated',
    origin: 'derived',
    source: `from times of ${source}`,
    columns: ['guideline', 'call', 'setting', 'us', 'bound in us', 'factor', 'avoided by'].map(column),
    rows: violations.slice(0, mostViolations).map((violation) => violationRow(data, violation)),
  }
  const shown =
    violations.length > mostViolations
      ? [`The ${mostViolations} with the greatest factors, of ${violations.length}.`]
      : []
  const found = violations.length === 0 ? ['No guideline is violated.'] : shown
  const text = [`Checked are ${bases.map(guidelineBaseText).join('; ')}.`, ...found]
  return { title: 'Guidelines', text, parts: violations.length === 0 ? [] : [table] }
}

function violationRow({ settings }: MeasuredData, violation: GuidelineViolation): Cell[] {
  const { guideline, call, setting, timeUs, boundUs, factor, remedy } = violation
  const by =
    remedy === null
      ? null
      : `${remedy.kind}: ${remedy.settings.map((i) => `${settings[i].collective} ${settingLine(settings[i])}`).join(', ')}`
  return [guideline, callText(call), settingLine(settings[setting]), timeUs, boundUs, factor, by]
}

/** The palette of Okabe and Ito, whose colors color-blind readers can tell apart. */
const colors = [...['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442']] as const
const otherColor = '#999999'

interface SettingClasses {
  readonly classes: readonly CellClass[]
  /** The index of the class, by setting. */
  readonly classOf: readonly number[]
}

/**
 * Groups settings into classes for a map: one class, with a letter, for each of the most frequent, and one for all
 * others.
 *
 * @param maps settings of cells; -1 for none
 */
function settingClasses(
  settings: readonly TuningSetting[],
  maps: readonly (readonly number[])[],
): SettingClasses {
  const counts = settings.map(() => 0)
  for (const map of maps) for (const setting of map) if (setting >= 0) counts[setting]++
  const present = [...settings.keys()]
    .filter((setting) => counts[setting] > 0)
    .sort((a, b) => counts[b] - counts[a] || a - b)
  const shown = present.slice(0, present.length > colors.length ? colors.length - 1 : colors.length)
  const classes: CellClass[] = shown.map((setting, i) => ({
    ...{ name: settingLine(settings[setting]), color: colors[i], mark: String.fromCharCode(97 + i) },
  }))
  const others = present.length - shown.length
  if (others > 0) classes.push({ name: `${others} others`, color: otherColor, mark: '' })
  const classOf = settings.map((_, setting) => {
    const at = shown.indexOf(setting)
    return at < 0 ? shown.length : at
  })
  return { classes, classOf }
}
