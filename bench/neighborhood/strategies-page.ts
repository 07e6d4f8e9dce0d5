import type { Figure } from '../bench.js'
import { markdown } from '../markdown-table.js'
import { caseOf, reference } from './cells.js'

/** Every figure names its commit and date: suites and cells may be measured one by one. */
export interface NeighborhoodResults {
  readonly machine: string
  readonly node: string
  readonly figures: readonly Figure[]
}

const opening = `# Strategies of neighbor allgathers

<!-- Generated from bench/neighborhood/results.json by \`npm run bench:docs\`. -->

Which strategy takes the least time depends on the graph, the length of the blocks and the network.
This page compares them in [SimGrid](https://simgrid.org), a simulator that is not ours, which moves the data and compares every slot.
\`npm run bench -- neighborhood\` repeats the comparison.

Nodes have 16 cores, ranks are on them in blocks.
A message between nodes has a latency of 0.6 us on the fast network and 5 us on the slow one.
The bandwidth per node is 12.5 and 1.25 GB/s.
A message between nodes takes 0.35 us and 2 us of the processor at each end.
Inside a node the latency is 0.05 us, and a message takes 0.35 us at each end.
Packing and unpacking take 2 ns per block and 0.1 ns per byte; every message has a header of 16 bytes.
All times are simulated microseconds until the last rank has finished.
`

/** Every figure of the comparison, as a page that is not committed. */
export function strategiesPage(results: NeighborhoodResults): string {
  const cells = results.figures.filter((figure) => 'candidate' in figure)
  const { machine, node } = results
  const parts = [
    opening,
    `## Every cell\n`,
    `\`auto\` is what the library chooses, \`best tried\` the best of the candidates of bench/neighborhood, both in SimGrid.`,
    `\`reference\` is ${reference.source[0].toLowerCase()}${reference.source.slice(1)}`,
    `\`direct\` is marked with ~ where it is ours to predict; \`friends\` are friend groups and \`allgather\` the ordinary allgather, both of the reference.\n`,
    `${markdown(cellHeads, cells.map(cellRow))}\n`,
    notRun(cells),
    summaryText(results.figures),
    whySection(cells),
    ...otherSections(results.figures),
    `Measured at ${commitsOf(results.figures)}; SimGrid 3.32, Node ${node}, ${machine}. All figures of a line are of one commit. Simulated times do not depend on the computer.\n`,
  ]
  return parts.filter((part) => part !== '').join('\n')
}

/** The commits of the figures, with dates, the most frequent first. */
function commitsOf(figures: readonly Figure[]): string {
  const counts = new Map<string, number>()
  for (const { commit, date } of figures) {
    const name = `${commit} (${date})`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const names = [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => name)
  return `commit${names.length > 1 ? 's' : ''} ${names.join(', ')}`
}

/** Decision records, from the page in docs/study. */
const decisions = ['..', 'decisions'].join('/')

const record = (name: string): string => `[${name.slice(0, 4)}](${decisions}/${name}.md)`

const cellHeads = [
  ...['graph, block, network', 'auto', 'us', 'best tried', 'us', 'reference', 'us'],
  ...['direct', 'friends', 'allgather'],
]

function cellRow(figure: Figure): string[] {
  const { ours, peer, strategy, candidate, candidateUs, by } = figure
  const { directUs, directIsSimgrid, commonNeighborUs, allgatherUs } = figure
  return [
    figure.case,
    code(strategy),
    us(ours),
    code(candidate),
    us(candidateUs),
    String(by),
    us(peer),
    `${directIsSimgrid === true ? '' : '~'}${us(directUs)}`,
    us(commonNeighborUs),
    us(allgatherUs),
  ]
}

/** Cells of the reference without a figure. */
function notRun(cells: readonly Figure[]): string {
  const done = new Set(cells.map((figure) => figure.case))
  const missing = reference.cells.map(caseOf).filter((name) => !done.has(name))
  return missing.length === 0 ? '' : `Cells of the reference that were not run: ${missing.join(', ')}.\n`
}

type Detail = string | number | boolean | null | undefined

const code = (value: Detail): string => `\`${value}\``

function us(value: Detail): string {
  return typeof value === 'number' ? String(Number(value.toPrecision(3))) : ''
}

function summaryText(figures: readonly Figure[]): string {
  const lines = figures
    .filter(({ unit }) => unit === 'cells')
    .map(({ case: name, ours, target, met, ...rest }) => {
      const goal = target === null ? '' : `; target ${target}: ${met ? 'met' : 'missed'}`
      return `- ${name}: ${ours} of ${rest['cells']}${goal}`
    })
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

/** What strategies do in each cell: counts from the lowered schedules. */
function whySection(cells: readonly Figure[]): string {
  const heads = [
    ...['graph, block, network', 'strategy', 'us'],
    ...['messages per rank', 'between nodes', 'KiB per node between nodes'],
  ]
  const rows = cells.flatMap((figure) => {
    const nodes = Number(figure['ranks']) / 16
    const row = (strategy: Detail, time: Detail, prefix: string): string[] => {
      const detail = (name: string): Detail =>
        figure[prefix === '' ? name : `${prefix}${name[0].toUpperCase()}${name.slice(1)}`]
      const per = (value: Detail, count: number): string =>
        typeof value === 'number' ? us(value / count) : ''
      return [
        figure.case,
        code(strategy),
        us(time),
        per(detail('messages'), Number(figure['ranks'])),
        per(detail('networkMessages'), Number(figure['ranks'])),
        per(detail('networkBytes'), nodes * 1024),
      ]
    }
    return [
      row('direct', figure['directUs'], 'direct'),
      row(figure['candidate'], figure['candidateUs'], 'candidate'),
    ]
  })
  return `## Why

A processor spends its overhead on every message at both ends, so short blocks cost messages.
A direct exchange has as many as the degree; digits have the sum of the radices less one each, whatever the degree.
Long blocks cost bytes between nodes, where a block may cross once for each node with a destination, not once for each destination.

- \`cartesian\` has the fewest messages on a grid. A block crosses to a node once where the first dimension is the one between nodes. It suits short and middle blocks on a fast network.
- \`lanes\` sends each rank's share of a pair of nodes as one message. It suits short blocks on random graphs, and any graph where overheads between nodes are high. Two lanes gather in one step less, and on a fast network a second message costs less than that step.
- \`lanes\` of different \`widths\` have messages of different lengths, which share the link of a node. The short ones arrive first and are spread while the others are in flight. It suits middle blocks on a slow network, long ones on a fast one.
- \`hierarchical\` crosses once per node too, without a message for each pair of nodes. It suits middle blocks on graphs without a grid on a fast network. Radices grow with the blocks. With \`digits=offset\` all ranks have equal work whatever the radices, so 6.3 serves for 16 nodes.
- \`pipelined\` sends several messages inside a node for one of \`hierarchical\`, and the bytes between nodes are the same. Processors spread blocks that have arrived while the network carries the rest, so it suits long blocks. With other steps \`back\` the last blocks of both sides do not arrive together, so fewer are left to spread at the end.

Where blocks of 4 bytes are no faster than in the reference, they take few messages already.
On the fast network \`moore:16x16:r=2\` takes 6 messages of 0.7 us, 0.12 us of packing, and twice 0.25 us of waiting for another node.
To save 5% it would have to send one message less.
No five offsets reach a window of 5 x 5 (${record('0031-a-strategy-is-a-route')}), and digits of both dimensions in turn wait longer (${record('0032-chosen-strategies')}).
This does not prove that no faster strategy exists.

An empty cell was not counted.

${markdown(heads, rows)}
`
}

function otherSections(figures: readonly Figure[]): string[] {
  const sections = [
    {
      title: 'Regret of the choice',
      intro: [
        'Regret is how much longer the chosen strategy takes than the best of all that were tried, on other graphs.',
        'Tried were every candidate on 64 ranks; on 256 and 1,024 the first 60 and 25 by estimate and two of every kind. Those made by hand were tried, too.',
        'They were found before `pipelined` had `back`, before `auto` searched around candidates and before profiles had headers, and timed again with headers.',
        'In 33 of the 60 cases the choice is faster than all of them. Regret then counts as 0, so the mean is a lower bound.',
        'Our simulator predicted both; it agrees with SimGrid to about 1%.',
      ].join('\n'),
      of: ({ unit, case: name }: Figure) => unit === 'us predicted' || name.startsWith('regret'),
      heads: ['what', 'chosen', 'best'],
    },
    {
      title: 'Messages and planning',
      intro:
        'Messages are counted from schedules, the baseline is published; times are of this computer, while others used it too.',
      of: ({ case: name }: Figure) => /messages per rank|^routed, |^auto, /.test(name),
      heads: ['what', 'ours', 'baseline'],
    },
    {
      title: 'Order of strategies',
      intro:
        'Strategies with blocks of 4 bytes are executed on `local` with their data, in virtual time. Frames take as long as on the slow network, but links are not shared and packing takes no time.',
      of: ({ case: name }: Figure) => /of local: virtual|in another order$/.test(name),
      heads: ['what', 'virtual time', 'predicted'],
    },
  ]
  return sections.flatMap(({ title, intro, of, heads }) => {
    const rows = figures.filter(of)
    if (rows.length === 0) return []
    const text = rows.map(({ case: name, ours, peer, unit, target, targetIs, met }) => [
      name,
      unit === '%' ? `${us(ours)}%` : `${us(ours)} ${unit.split(' ')[0]}`,
      us(peer),
      target === null ? '' : `${targetIs ?? 'at most'} ${target}: ${met ? 'met' : 'missed'}`,
    ])
    return [`## ${title}\n\n${intro}\n\n${markdown([...heads, 'target'], text)}\n`]
  })
}
