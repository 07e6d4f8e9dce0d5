import { markdown } from './markdown-table.js'
import type {
  Origin,
  PaperResults,
  PaperTarget,
  ResultFigure,
  ResultFile,
  ResultTable,
} from './results-file.js'
import { paperSeconds, phases } from './split/paper-table.js'
import { phasesSection, replicationSection } from './split/phases-page.js'

/** A link to a decision record, as the page in docs/ has it. */
const recordLink = (name: string) => `[${name}](decisions/${name}.md)`

const opening = `# Benchmarks

<!-- Generated from bench/results by \`npm run bench:docs\`. -->

Every figure is the median of the runs; the best run is in brackets.
\`ratio\` is ours / baseline in the unit of the row.
A target is met or missed; ratios of times below 0.2 are printed as "times faster".
Where the samples of single runs were not retained, figures are the medians documented at the time; \`source\` in bench/results names them.
[How the figures are measured](#method) is at the end.
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
- \`bare koffi\` does the same as the C program by blocking MPI calls from JavaScript.

\`npm run bench -- NAME [--json] [--quick] [--only SUITE]\` repeats the measurements; its exit code is 1 when a target is missed.
The baselines need \`apt-get install libopenmpi-dev openmpi-bin libmpich-dev mpich\` and a C++ compiler.
The decision records explain the figures: ${['0005-threads', '0014-mpi', '0015-split-at-scale'].map(recordLink).join(', ')}.
`

/** docs/benchmarks.md. */
export function benchmarksPage(files: readonly ResultFile[]): string {
  return [opening, ...files.map(section), closing].join('\n')
}

function section({ title, command, paperTable, phases: whole, replication, tables }: ResultFile): string {
  const parts = [`## ${title}\n\n    ${command}\n`]
  if (whole !== undefined) parts.push(phasesSection(whole, origin(whole)))
  if (replication !== undefined) parts.push(replicationSection(replication, origin(replication)))
  if (paperTable !== undefined) parts.push(paperSection(paperTable))
  return [...parts, ...tables.map(tableSection)].join('\n')
}

function tableSection(table: ResultTable): string {
  const { title, ours, baseline, figures } = table
  const hasBaseline = figures.some(({ peer }) => peer !== undefined)
  const heads = ['what', ours, ...(hasBaseline ? [baseline, 'ratio'] : []), 'target', 'runs']
  const lines = figures.map((figure) => row(figure, table.runs, hasBaseline))
  return `### ${title}\n\n${origin(table)}\n\n${markdown(heads, lines)}\n`
}

/** Sentences about where figures come from. */
function origin({ commit, date, machine, software, note, image }: Origin): string {
  const where = `${machine}, ${software.join(', ')}, commit ${commit}, ${date}.`
  const drawn = image === undefined ? [] : [`![the same as a picture](${image})`]
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
  if (ratio >= 9.95) return `${Math.round(ratio)}x`
  return `${ratio >= 1 ? ratio.toFixed(1) : Number(ratio.toPrecision(2))}x`
}

function targetText(figure: ResultFigure): string {
  const { target, judged: verdict, unit, ours } = figure
  if (verdict !== undefined) return `${verdict.bound}: ${verdict.isMet ? 'met' : 'missed'}`
  if (target === undefined) return ''
  const judged = target.of === 'ours' ? ours : ratioOf(figure)!
  const isMet = target.is === 'at most' ? judged <= target.value : judged >= target.value
  const sign = target.is === 'at most' ? '<=' : '>='
  const faster = 1 / target.value
  const bound =
    target.of === 'ours'
      ? `${sign} ${measured(target.value, undefined, unit)}`
      : target.is === 'at most' && faster > 1
        ? `${Number(faster.toFixed(1))} times faster`
        : `${sign} ${target.value}x`
  return `${bound}: ${isMet ? 'met' : 'missed'}`
}

function number(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 3 })
}

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
  const paperTarget = ({ of, is, from, name }: PaperTarget) => {
    const isMet = baselines.every((each) => each.millions < from || each[of] >= is)
    return `${is} times as fast as ${name} from ${from}M entries on: ${isMet ? 'met' : 'missed'}`
  }
  const cell = (took: number, faster: number) => `${took.toFixed(2)} s: ${faster.toFixed(1)} times`
  const compared = baselines.map((each) => [
    `${each.millions}M`,
    cell(each.cppConventional, each.timesCppConventional),
    cell(each.cppMerging, each.timesCppMerging),
    cell(each.merging, each.timesMerging),
  ])
  return `### Table 2.1 of Sack 2011: kernels in one memory

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
