import { type Headline, headlines } from './headline-ratios.js'
import { markdown } from './markdown-table.js'
import { queueTable } from './matching/queue-table.js'
import type {
  Origin,
  PaperResults,
  PaperTarget,
  ResultFigure,
  ResultFile,
  ResultTable,
} from './results-file.js'
import { paperSeconds, phases } from './split/paper-table.js'
import { phasesSection, phasesTitle, replicationSection, replicationTitle } from './split/phases-page.js'

/** A link to a decision record, as the page in docs/ has it. */
const recordLink = (name: string) => `[${name.slice(0, 4)}](decisions/${name}.md)`

/** Pages in docs/, as links name them. */
const [ratiosPage, strategiesPage] = ['benchmarks', 'study/neighborhood'].map((name) => `${name}.md`)

const generated = '<!-- Generated from bench/results by `npm run bench:docs`. -->'

const opening = `# Benchmarks

${generated}

This page has ratios; the tables with times, machines and commits are behind the links.
A ratio is ours / baseline in the unit of the row.
For times below 1x is faster, for bandwidths and rates above 1x.
Ratios of times below 0.2 are printed as "times faster".
A target is met or missed.
`

const tableOpening = `Every figure is the median of the runs; the best run is in brackets.
\`ratio\` is ours / baseline in the unit of the row; ratios of times below 0.2 are printed as "times faster".
Where the samples of single runs were not retained, figures are the medians documented at the time; \`source\` in bench/results names them.
[All ratios](../${ratiosPage}), and [how the figures are measured](../${ratiosPage}#method).
`

const closing = `## Method

- Ours and the baselines take turns; every round begins with the next one.
- A run checks its results, warms up, and times batches of operations by the clock of rank 0. Its figure is the median batch.
- A run that exceeds its time limit is ended with its children and counts as failed, as does a wrong result.
- The library and the programs of the ranks are compiled as they are published. The baselines are C and C++, compiled on the same machine with \`-O3\`.
- A run waits up to 4 seconds until other programs use less than 0.3 of a core. \`coresBusyBefore\` in the output is what was busy then.
- Open MPI runs with \`--mca pml ob1 --mca btl self,vader\`, on 2 processes with \`--bind-to core\`, on more with \`--oversubscribe --bind-to none --mca mpi_yield_when_idle 1\`. Large messages are measured with one copy and with two; the better one counts.
- MPICH runs with \`-launcher fork\`, on 2 processes with \`-bind-to core\`. It does not yield.
- \`C packed by hand\` is a neighbor allgather for two processes: one message with what the other one needs, then a copy per slot.
- Exported C programs are compared with the algorithms of the same names of Open MPI, which \`--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_COLLECTIVE_algorithm NAME\` forces. A program checks both results, then they take turns in one run. On four nodes, algorithms along their dimensions are compared with those that Open MPI chooses.
- \`bare koffi\` does the same as the C program by blocking MPI calls from JavaScript.

\`npm run bench -- NAME [--json] [--quick] [--runs N] [--only SUITE]\` repeats the measurements; its exit code is 1 when a target is missed.
The baselines need \`apt-get install libopenmpi-dev openmpi-bin libmpich-dev mpich\` and a C++ compiler.
The decision records explain the figures: ${['0005-threads', '0014-mpi', '0015-split-at-scale'].map(recordLink).join(', ')}.
`

/** The pages below docs/ by their paths: ratios on one, and a page of tables for each file of results. */
export function benchmarkPages(files: readonly ResultFile[]): ReadonlyMap<string, string> {
  return new Map([
    [
      ratiosPage,
      [opening, ...headlines.map((one) => headlineSection(one, files)), summary(files), closing].join('\n'),
    ],
    ...files.map((file) => [`benchmarks/${file.name}.md`, tablesPage(file)] as const),
  ])
}

/** A table of the page of ratios: one row per case, wherever its figure is recorded. */
function headlineSection({ title, rows }: Headline, files: readonly ResultFile[]): string {
  const lines = rows.map(([name, heading, wanted, label = wanted]) => {
    const file = files.find((each) => each.name === name)
    const table = file?.tables.find((each) => each.title === heading)
    const figure = table?.figures.find((each) => each.case === wanted)
    if (file === undefined || table === undefined || figure === undefined)
      throw new Error(`${name} has no '${wanted}' in '${heading}'`)
    const unit = times.includes(figure.unit) ? 'time' : figure.unit
    const baseline = tableLink(name, heading, table.baseline)
    return [file.title, label, unit, ratioText(figure), targetText(figure), baseline]
  })
  return `## ${title}\n\n${markdown(['of', 'what', 'unit', 'ratio', 'target', 'compared with'], lines)}\n`
}

/** A row for every table: how its ratios are spread, and how many of its targets are met. */
function summary(files: readonly ResultFile[]): string {
  const lines = files.flatMap(({ name, title, phases, replication, paperTable, tables }) => [
    ...[phases].flatMap((whole) =>
      whole === undefined
        ? []
        : [
            summaryRow(
              name,
              title,
              phasesTitle,
              whole.rows.flatMap(({ sum, peer }) => (peer === undefined ? [] : [sum / peer])),
            ),
          ],
    ),
    ...(replication === undefined ? [] : [summaryRow(name, title, replicationTitle, [])]),
    ...[paperTable].flatMap((paper) =>
      paper === undefined
        ? []
        : [
            summaryRow(
              name,
              title,
              paperTitle,
              paper.baselines.flatMap((each) => [1 / each.timesCppConventional, 1 / each.timesCppMerging]),
              paper.targets.map((target) => paperTargetIsMet(paper, target)),
            ),
          ],
    ),
    ...tables.map(({ title: heading, figures }) =>
      summaryRow(
        name,
        title,
        heading,
        spreadRatios(figures),
        figures.flatMap((figure) => isMet(figure) ?? []),
      ),
    ),
  ])
  const heads = ['subject', 'table', 'ratios', 'least', 'median', 'greatest', 'targets met']
  return `## All tables\n\nThe ratios are those of times, or of what a table without times counts.\nOf whole splits the ratio is to \`std::sort\` on one core, of Table 2.1 to the splits in C++.\nStrategies of neighbor allgathers have [a page of their figures](${strategiesPage}).\n\n${markdown(heads, lines)}\n`
}

/** Ratios of times; of a table that has none, all ratios. */
function spreadRatios(figures: readonly ResultFigure[]): number[] {
  const compared = figures.filter((figure) => ratioOf(figure) !== null)
  const timed = compared.filter(({ unit }) => times.includes(unit))
  return (timed.length > 0 ? timed : compared).map((figure) => ratioOf(figure)!)
}

function summaryRow(
  page: string,
  subject: string,
  heading: string,
  ratios: readonly number[],
  met: readonly boolean[] = [],
): string[] {
  const sorted = [...ratios].sort((a, b) => a - b)
  const last = sorted.length - 1
  const spread =
    last < 0
      ? ['', '', '', '']
      : [`${sorted.length}`, ...[0, last >> 1, last].map((at) => timesText(sorted[at]))]
  const targets = met.length === 0 ? '' : `${met.filter(Boolean).length} of ${met.length}`
  return [subject, tableLink(page, heading, heading), ...spread, targets]
}

/** A link to a table by its heading, with the anchor that code hosts make. */
function tableLink(page: string, heading: string, text: string): string {
  const anchor = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
  return `[${text}](benchmarks/${page}.md#${anchor})`
}

/** A page of docs/benchmarks: every figure of a file of results. */
export function tablesPage({
  name,
  title,
  command,
  paperTable,
  phases: whole,
  replication,
  tables,
}: ResultFile): string {
  const parts = [
    `# Benchmarks: ${title.charAt(0).toLowerCase()}${title.slice(1)}\n\n${generated}\n\n${tableOpening}\n    ${command}\n`,
  ]
  if (whole !== undefined) parts.push(phasesSection(whole, origin(whole)))
  if (replication !== undefined) parts.push(replicationSection(replication, origin(replication)))
  if (paperTable !== undefined) parts.push(paperSection(paperTable))
  if (name === 'matching') parts.push(queueSection(tables))
  return [...parts, ...tables.map(tableSection)].join('\n')
}

/** Times by length of the queue, of every side. */
function queueSection(tables: readonly ResultTable[]): string {
  const table = queueTable(tables.flatMap(({ figures }) => figures))
  return `## Time of a receive by unexpected messages\n\n${origin(tables[0])}\n\n${table}\n`
}

function tableSection(table: ResultTable): string {
  const { title, ours, baseline, figures } = table
  const hasBaseline = figures.some(({ peer }) => peer !== undefined)
  const heads = ['what', ours, ...(hasBaseline ? [baseline, 'ratio'] : []), 'target', 'runs']
  const lines = figures.map((figure) => row(figure, table.runs, hasBaseline))
  return `## ${title}\n\n${origin(table)}\n\n${markdown(heads, lines)}\n`
}

/** Sentences about where figures come from. */
function origin({ commit, date, machine, software, note, image }: Origin): string {
  const where = `${machine}, ${software.join(', ')}, commit ${commit}, ${date}.`
  const drawn = image === undefined ? [] : [`![the same as a picture](../${image})`]
  return [where, ...(note === undefined ? [] : [note]), ...drawn].join('\n')
}

function row(figure: ResultFigure, runsOfTable: number, hasBaseline: boolean): string[] {
  const { unit, ours, oursBest, peer, peerBest, runs = runsOfTable, peerRuns } = figure
  const compared = hasBaseline ? [measured(peer, peerBest, unit), ratioText(figure)] : []
  const often = peerRuns === undefined ? `${runs}` : `${runs}, baseline ${peerRuns}`
  return [figure.case, measured(ours, oursBest, unit), ...compared, targetText(figure), often]
}

function measured(value: number | undefined, best: number | undefined, unit: string): string {
  if (value === undefined) return ''
  const shown = unit.startsWith('%') ? `${number(value)}${unit}` : `${number(value)} ${unit}`
  return best === undefined ? shown : `${shown} (${number(best)})`
}

function ratioOf({ ours, peer, ratio }: ResultFigure): number | null {
  return ratio ?? (peer === undefined ? null : ours / peer)
}

const times = ['us', 'ms', 's']

function ratioText(figure: ResultFigure): string {
  const ratio = ratioOf(figure)
  if (ratio === null) return ''
  if (ratio < 0.2 && times.includes(figure.unit)) return `${number(Math.round(1 / ratio))} times faster`
  const { interval } = figure
  if (interval === undefined) return timesText(ratio)
  return `${timesText(ratio)} (${interval.map((end) => end.toFixed(2)).join(' to ')})`
}

function timesText(ratio: number): string {
  if (ratio >= 9.95) return `${Math.round(ratio)}x`
  return `${ratio >= 1 ? ratio.toFixed(1) : Number(ratio.toPrecision(2))}x`
}

/** Whether a figure meets its target; null without one. */
function isMet(figure: ResultFigure): boolean | null {
  const { target, judged: verdict, ours } = figure
  if (verdict !== undefined) return verdict.isMet
  if (target === undefined) return null
  const judged = target.of === 'ours' ? ours : ratioOf(figure)!
  return target.is === 'at most' ? judged <= target.value : judged >= target.value
}

function targetText(figure: ResultFigure): string {
  const { target, judged: verdict, unit } = figure
  const met = isMet(figure) ? 'met' : 'missed'
  if (verdict !== undefined) return `${verdict.bound}: ${met}`
  if (target === undefined) return ''
  const sign = target.is === 'at most' ? '<=' : '>='
  const faster = 1 / target.value
  const bound =
    target.of === 'ours'
      ? `${sign} ${measured(target.value, undefined, unit)}`
      : target.is === 'at most' && faster > 1
        ? `${Number(faster.toFixed(1))} times faster`
        : `${sign} ${target.value}x`
  return `${bound}: ${met}`
}

function number(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 3 })
}

const paperTitle = 'Table 2.1 of Sack 2011: kernels in one memory'

const paperTargetIsMet = ({ baselines }: PaperResults, { of, is, from }: PaperTarget) =>
  baselines.every((each) => each.millions < from || each[of] >= is)

function paperSection(results: PaperResults): string {
  const { rows, baselines, targets, alphaSeconds } = results
  const sorters = [...new Set(rows.map((each) => each.sorters))]
  const phaseRows = [...new Set(rows.map((each) => each.millions))].flatMap((millions) => {
    const of = rows.filter((each) => each.millions === millions)
    return [...phases, 'total' as const, 'withAlpha' as const].map((phase) => {
      const cells = of.map((each) => {
        const theirs = phase === 'withAlpha' ? null : paperSeconds(millions, each.sorters, phase)
        return theirs === null ? seconds(each[phase]) : `${seconds(each[phase])} (${theirs.toFixed(2)})`
      })
      return [`${millions}M`, phase === 'withAlpha' ? 'with alpha' : phase, ...cells]
    })
  })
  const paperTarget = (target: PaperTarget) =>
    `${target.is} times as fast as ${target.name} from ${target.from}M entries on: ${paperTargetIsMet(results, target) ? 'met' : 'missed'}`
  const cell = (took: number, faster: number) => `${took.toFixed(2)} s: ${faster.toFixed(1)} times`
  const compared = baselines.map((each) => [
    `${each.millions}M`,
    cell(each.cppConventional, each.timesCppConventional),
    cell(each.cppMerging, each.timesCppMerging),
    cell(each.merging, each.timesMerging),
  ])
  return `## ${paperTitle}

${origin(results)}

The loops of a split, not whole splits: the p sorters run one after another in one process, and a phase takes as long as its slowest sorter; data moves in memory, and no message is sent.
\`with alpha\` adds ${alphaSeconds * 1e6} us per message on the critical path.

${markdown(['entries', 'phase', ...sorters.map((p) => `p = ${p}`)], phaseRows)}

Kernels of other splits, without messages, and how many times as fast those of 64 sorters with alpha are:

${markdown(['entries', 'C++ conventional', 'C++ merging', 'our merging'], compared)}

Targets, of 64 sorters: ${targets.map(paperTarget).join('; ')}.
`
}

function seconds(value: number): string {
  return value.toFixed(value >= 0.1 ? 2 : value >= 0.01 ? 3 : 4)
}
