import { markdown } from '../markdown-table.js'
import type { SplitResults, SplitRow } from '../results-file.js'
import { leastGain, printed } from './printed.js'

export const phasesTitle = 'Whole splits of many ranks'
export const replicationTitle = 'Figures 2.2 and 2.3 of Sack 2011, by whole splits'

const phaseNames = ['collect', 'splitters', 'exchange', 'merge', 'ranks', 'table'] as const

/** Whole splits on real processes: every phase. @param origin sentences about where the figures come from */
export function phasesSection({ rows }: SplitResults, origin: string): string {
  const heads = [
    'algorithm, table',
    ...phaseNames,
    'sum',
    'of `std::sort`',
    'whole',
    'messages',
    'peak',
    'retained',
    'runs',
  ]
  const tables = worldsOf(rows).map((of) => {
    const [{ ranks, processes, fabric, peer }] = of
    const sorted = peer === undefined ? '' : `; \`std::sort\` on one core: ${ms(peer)} ms`
    const where = fabric === 'threads' ? `${processes} threads` : `${processes} processes of ${fabric}`
    const lines = of.map((row) => [
      row.variant,
      ...phaseNames.map((name) =>
        row.phases[name] === undefined || row.phases[name] === 0 ? '' : ms(row.phases[name]),
      ),
      ms(row.sum),
      row.peer === undefined ? '' : `${(row.sum / row.peer).toPrecision(2)}x`,
      ms(row.whole),
      row.messages.toLocaleString('en-US'),
      megabytes(row.peak),
      megabytes(row.retained),
      String(row.runs),
    ])
    return `2^${Math.log2(ranks)} ranks, ${where}${sorted}${gainOf(of)}:\n\n${markdown(heads, lines)}\n`
  })
  return `## ${phasesTitle}

${origin}

Each rank draws one of 1,000 colors and a key at random, and every twentieth has no color; results are checked against another sort before splits are timed.
Milliseconds of each phase on the slowest process, whose sum is that of one process; \`whole\` is until all ranks of a process have their communicators, a promise each.
Peak and retained memory are the bytes that the busiest process accounts for, in MB.

${tables.join('\n')}`
}

function gainOf(rows: readonly SplitRow[]): string {
  const of = (variant: string) => rows.find((row) => row.variant === variant)?.sum
  const before = of('conventional, replicated')
  const after = of('parallel-sort, distributed')
  if (before === undefined || after === undefined) return ''
  const gain = before / after
  const [{ ranks, processes }] = rows
  const target =
    ranks === 2 ** 20 && processes === 4
      ? ` (target ${leastGain}: ${gain >= leastGain ? 'met' : 'missed'})`
      : ''
  return `; parallel-sort, distributed, is ${gain.toPrecision(2)} times as fast as conventional${target}`
}

/** Distributed tables compared with replicated ones, beside what Figures 2.2 and 2.3 of Sack 2011 print. */
export function replicationSection({ rows }: SplitResults, origin: string): string {
  const worlds = worldsOf(rows)
  const of = (world: readonly SplitRow[], variant: string) => world.find((row) => row.variant === variant)
  const title = ([{ ranks, processes }]: readonly SplitRow[]) =>
    `2^${Math.log2(ranks)} ranks, ${processes} processes`
  const times = (ratio: number | undefined) => (ratio === undefined ? '' : `${ratio.toPrecision(2)}`)
  const gains = printed.map(({ ours, faster, said }) => [
    `time: ${faster} / ${ours}`,
    said,
    ...worlds.map((world) => {
      const mine = of(world, ours)?.sum
      const theirs = of(world, faster)?.sum
      return times(mine === undefined || theirs === undefined ? undefined : theirs / mine)
    }),
  ])
  const memory = (['peak', 'retained'] as const).map((measure) => [
    `${measure} memory: parallel-sort, replicated / distributed`,
    '',
    ...worlds.map((world) => {
      const [a, b] = ['parallel-sort, replicated', 'parallel-sort, distributed'].map(
        (name) => of(world, name)?.[measure],
      )
      return times(a === undefined || b === undefined ? undefined : a / b)
    }),
  ])
  const names = [...new Set(rows.map(({ variant }) => variant))]
  const absolute = names.map((name) => [
    name,
    ...worlds.map((world) => {
      const row = of(world, name)
      if (row === undefined) return ''
      return `${ms(row.sum / row.processes)} ms, ${megabytes(row.peak)} / ${megabytes(row.retained)} MB`
    }),
  ])
  return `## ${replicationTitle}

${origin}

One communicator of all ranks, random keys, irregular table; every process sorts, and all share one table.
All processes run in one event loop, so the time of a process is that of the split divided by the processes; messages cost what handling them costs.
The paper's figures are of 128M entries on 64 sorters; a world here has at most 2^22 ranks.

${markdown(['how many times as much', 'paper', ...worlds.map(title)], [...gains, ...memory])}

Time of a process, and its peak / retained memory:

${markdown(['algorithm, table', ...worlds.map(title)], absolute)}
`
}

/** Rows of the same ranks, processes and fabric. */
function worldsOf(rows: readonly SplitRow[]): [SplitRow, ...SplitRow[]][] {
  const worlds = new Map<string, [SplitRow, ...SplitRow[]]>()
  for (const row of rows) {
    const name = `${row.fabric} ${row.processes} ${row.ranks}`
    const world = worlds.get(name)
    if (world === undefined) worlds.set(name, [row])
    else world.push(row)
  }
  return [...worlds.values()]
}

function ms(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(2)))
}

function megabytes(bytes: number): string {
  return String(Number((bytes / 1e6).toPrecision(3)))
}
