import { markdown } from './markdown-table.js'
import { queueTable } from './matching/queue-table.js'
import { measured, ratioOf, ratioText, spreadOf, spreadRatios } from './result-texts.js'
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

// Every figure of bench/results with its target, for contributors: `npm run bench:docs` writes these pages beside the
// results. They are not committed.

/** From bench/results. */
const docs = '../../docs'

const tableOpening = `Every figure is the median of the runs; the best run is in brackets.
\`ratio\` is ours / baseline in the unit of the row; ratios of times below 0.2 are printed as fractions.
A target is met or missed.
Where the samples of single runs were not retained, figures are the medians documented at the time; \`source\` in bench/results names them.
docs/benchmarks.md says how the figures are measured.
`

/** The pages by their names: the targets of all, and the tables of each file of results. */
export function resultPages(files: readonly ResultFile[]): ReadonlyMap<string, string> {
  return new Map([
    ['targets', summary(files)],
    ...files.map((file) => [file.name, tablesPage(file)] as const),
  ])
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
  return `# Ratios and targets of all tables\n\nThe ratios are those of times, or of what a table without times counts.\nOf whole splits the ratio is to \`std::sort\` on one core, of Table 2.1 to the splits in C++.\n\n${markdown(heads, lines)}\n`
}

function summaryRow(
  page: string,
  subject: string,
  heading: string,
  ratios: readonly number[],
  met: readonly boolean[] = [],
): string[] {
  const targets = met.length === 0 ? '' : `${met.filter(Boolean).length} of ${met.length}`
  return [subject, tableLink(page, heading, heading), ...spreadOf(ratios), targets]
}

/** A link to a table by its heading, with the anchor that code hosts make. */
function tableLink(page: string, heading: string, text: string): string {
  const anchor = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
  return `[${text}](${page}.md#${anchor})`
}

/** Every figure of a file of results. */
function tablesPage({
  name,
  title,
  command,
  paperTable,
  phases: whole,
  replication,
  tables,
}: ResultFile): string {
  const parts = [
    `# Benchmarks: ${title.charAt(0).toLowerCase()}${title.slice(1)}\n\n${tableOpening}\n    ${command}\n`,
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
  const drawn = image === undefined ? [] : [`![the same as a picture](${docs}/${image})`]
  return [where, ...(note === undefined ? [] : [note]), ...drawn].join('\n')
}

function row(figure: ResultFigure, runsOfTable: number, hasBaseline: boolean): string[] {
  const { unit, ours, oursBest, peer, peerBest, runs = runsOfTable, peerRuns } = figure
  const compared = hasBaseline ? [measured(peer, peerBest, unit), ratioText(figure)] : []
  const often = peerRuns === undefined ? `${runs}` : `${runs}, baseline ${peerRuns}`
  return [figure.case, measured(ours, oursBest, unit), ...compared, targetText(figure), often]
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
