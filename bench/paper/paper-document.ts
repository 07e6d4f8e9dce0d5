import {
  bytesText,
  type Cell,
  type Document,
  type LinePlot,
  numberText,
  type Section,
  type Table,
} from '../../src/document/document.js'
import type { Study } from '../../src/study/study.js'
import { graham, niagara } from './chapter.js'
import { type HyperedgeRow, workLimit } from './hyperedge-counts.js'
import type { Claim, PaperStudy } from './paper-figures.js'
import { queueSections } from './queue-sections.js'

/**
 * Chapter 7 again, as a document. Values of the publication stand only beside those of ours of one origin.
 */
export function paperDocument(study: PaperStudy): Document {
  return {
    title: 'Message combining by friend groups: chapter 7 of Ghazimirsaeed 2019 again',
    text: [
      'The chapter measures neighbor allgathers with message combining on two clusters: Moore neighborhoods on 4,096 ranks of Niagara, random graphs and sparse products on Graham, MVAPICH2 2.2, EDR InfiniBand. ' +
        `Here they are simulated on the built-in profiles of these clusters, ${niagara} and ${graham}, whose costs are assumed but for the bandwidth: neither cluster nor library is at hand.`,
      'Most of its figures are bar charts without numbers, so only what its text says stands beside ours: numbers where it prints the value, its words where it prints a bound or a direction. Combining follows its rules: groups of k friends, every exchange and every direct message sent (dedupe=false, elide=false).',
    ],
    sections: [
      ...claimSections(study.claims),
      ...queueSections(study),
      hyperedgeSection(
        'Hyperedges of Moore neighborhoods (Fig. 7.5, 7.7)',
        '4,096 ranks, 40 per node',
        study.mooreHyperedges,
      ),
      hyperedgeSection(
        'Hyperedges of random graphs (Fig. 7.9)',
        '1,024 ranks, 32 per node, seed 1',
        study.randomHyperedges,
      ),
      bySizeOfGroup('Moore neighborhoods by k (section 7.6.1)', niagara, study.moore),
      byLength(
        'Moore neighborhood d=2, r=4 by block length (section 7.6.1)',
        'moore-by-length',
        niagara,
        study.moore.filter(({ bytes }) => bytes.length > 1),
      ),
      bySizeOfGroup('Random graphs by k (section 7.6.2, Fig. 7.10)', graham, study.random),
      byLength('Random graphs by block length (section 7.6.2)', 'random-by-length', graham, study.random),
      constructionSection([...study.moore, ...study.random]),
      productSection(study),
      ...leftOutSections([...study.moore, ...study.random]),
    ],
  }
}

const titles = (names: readonly string[]) => names.map((title) => ({ title }))

function claimSections(claims: readonly Claim[]): Section[] {
  const kinds = [
    ['counted', 'Printed values beside ours: counts', 'hyperedges of our graphs', []],
    [
      'simulated',
      'Printed values beside ours: speedups',
      'ours on built-in profiles; printed ones were measured on the clusters',
      [
        'The simulator charges overheads, links and copies. Here it charges neither searches of matching queues nor limits of a network interface on messages per second. Both grow with the number of messages, which combining reduces, so printed speedups may be larger. The sections on matching queues say what searches explain.',
      ],
    ],
    [
      'measured',
      'Printed values beside ours: construction',
      'ours on the computer that made this study, seconds of processor time; printed ones on the clusters',
      [
        'The two are times of different machines and of different work, printed for the record: no difference is computed.',
      ],
    ],
  ] as const
  return kinds.map(([origin, title, source, text]) => {
    const rows = claims.filter((claim) => claim.origin === origin)
    const table: Table = {
      kind: 'table',
      title,
      origin,
      source,
      columns: [
        { title: 'where' },
        { title: 'what' },
        { title: 'unit' },
        { title: 'chapter 7', isPrinted: true },
        ...titles(['ours', 'difference, %', 'why']),
      ],
      rows: rows.map((claim): Cell[] => [
        ...[claim.where, claim.what, claim.unit, claim.printed],
        ...[claim.ours, claim.differencePercent, isSame(claim) ? '' : claim.why],
      ]),
    }
    return { title, text, parts: [table] }
  })
}

const isSame = ({ printed, ours }: Claim) => ours === (printed === 'none' ? 0 : printed)

function hyperedgeSection(title: string, place: string, rows: readonly HyperedgeRow[]): Section {
  const sizes = rows[0]?.counts.map(({ k }) => k) ?? []
  const table: Table = {
    kind: 'table',
    title: 'Hyperedges per rank',
    origin: 'counted',
    source: `${place}; no value: more than ${numberText(workLimit)} steps to count`,
    columns: titles(['graph', 'mode', ...sizes.map((k) => `k=${k}`)]),
    rows: rows.map(({ setting, mode, counts }): Cell[] => [
      setting,
      mode,
      ...counts.map(({ perRank }) => perRank),
    ]),
  }
  const text =
    'A hyperedge is k ranks with more than theta common neighbors: theta is k(k-1) in agnostic mode, k in aware mode, where they share a node.'
  return { title, text: [text], parts: [table] }
}

function bySizeOfGroup(title: string, machine: string, studies: readonly Study[]): Section {
  const strategies = [
    ...new Set(studies.flatMap((study) => study.strategies.map(({ strategy }) => strategy))),
  ].slice(1)
  const table: Table = {
    kind: 'table',
    title: 'Direct sends / combined, blocks of 4 B',
    origin: 'simulated',
    source: `on ${machine}; first direct sends in microseconds`,
    columns: titles(['graph', 'direct, us', ...strategies.map(groupText)]),
    rows: studies.map(({ subject, strategies: studied, bytes }): Cell[] => {
      const i = bytes.indexOf(4)
      const of = (text: string) => studied.find(({ strategy }) => strategy === text)?.simulated[i]
      return [
        subject.topology,
        of('direct')?.timeUs ?? null,
        ...strategies.map((text) => of(text)?.speedup ?? null),
      ]
    }),
  }
  return { title, text: ['Above 1, combining is faster.'], parts: [table] }
}

/** `aware k=4`, of a strategy of friend groups. */
function groupText(strategy: string): string {
  return `${/mode=(\w+)/.exec(strategy)?.[1]} k=${/k=(\d+)/.exec(strategy)?.[1]}`
}

function byLength(title: string, name: string, machine: string, studies: readonly Study[]): Section {
  const bytes = studies[0]?.bytes ?? []
  const lines = studies.flatMap(({ subject, strategies }) =>
    strategies.slice(1).map(({ strategy, simulated }) => ({
      graph: subject.topology,
      group: groupText(strategy),
      speedups: simulated.map(({ speedup }) => speedup),
    })),
  )
  const source = `direct sends / combined on ${machine}`
  const table: Table = {
    kind: 'table',
    title: 'Speedup by block length',
    origin: 'simulated',
    source,
    columns: titles(['graph', 'groups', ...bytes.map(bytesText)]),
    rows: lines.map(({ graph, group, speedups }): Cell[] => [graph, group, ...speedups]),
  }
  const best = studies.length > 1 ? bestOfGraphs(lines) : distinctLines(lines)
  const plot: LinePlot = {
    kind: 'lines',
    name,
    title: studies.length > 1 ? 'Speedup by block length, best k' : 'Speedup by block length',
    origin: 'simulated',
    source,
    x: { label: 'length of a block', scale: 'bytes' },
    y: { label: 'time of direct sends / combined', scale: 'linear' },
    series: best.map((line) => ({
      name: line.name,
      points: line.speedups.map((value, i) => [bytes[i], value] as const),
    })),
  }
  return { title, text: [], parts: [plot, table] }
}

/** Groups with the same speedups share a line: those that are not found leave direct sends alone. */
function distinctLines(lines: readonly { readonly group: string; readonly speedups: readonly number[] }[]) {
  const byFigures = new Map<string, { readonly name: string; readonly speedups: readonly number[] }>()
  for (const { group, speedups } of lines) {
    const figures = speedups.join()
    const known = byFigures.get(figures)
    byFigures.set(figures, { name: known === undefined ? group : `${known.name}, ${group}`, speedups })
  }
  return [...byFigures.values()]
}

function bestOfGraphs(lines: readonly { readonly graph: string; readonly speedups: readonly number[] }[]) {
  const graphs = [...new Set(lines.map(({ graph }) => graph))]
  return graphs.map((name) => {
    const own = lines.filter(({ graph }) => graph === name)
    const speedups = own[0].speedups.map((_, i) =>
      own.reduce((most, line) => Math.max(most, line.speedups[i]), 0),
    )
    return { name, speedups }
  })
}

function constructionSection(studies: readonly Study[]): Section {
  const table: Table = {
    kind: 'table',
    title: 'Planning time',
    origin: 'measured',
    source:
      'on the computer that made this study, once each (the least of three below 0.1); seconds of processor time',
    columns: titles(['graph', 'groups', 's']),
    rows: studies.flatMap(({ subject, strategies }) =>
      strategies
        .slice(1)
        .map(({ strategy, planMs }): Cell[] => [subject.topology, groupText(strategy), planMs / 1000]),
    ),
  }
  const text =
    'Groups are found without enumerating hyperedges; central and distributed construction find the same ones.'
  return { title: 'Construction (section 7.6)', text: [text], parts: [table] }
}

function productSection({ products }: PaperStudy): Section {
  const table: Table = {
    kind: 'table',
    title: 'The exchange of one column of B',
    origin: 'simulated',
    source: 'on clusters of 32 cores per node with the profile graham; microseconds',
    columns: titles([
      ...['matrix', 'rows', 'entries', 'ranks', 'block, bytes', 'degree, mean'],
      ...['allgather', 'allgather, us', 'direct, us', 'combined by', 'combined, us'],
    ]),
    rows: products.map((row): Cell[] => [
      ...[row.matrix, row.rows, row.entries, row.ranks, row.bytes, row.meanDegree],
      ...[row.allgather, row.allgatherUs, row.directUs],
      ...(row.combined === null
        ? ['no groups', null]
        : [groupText(row.combined.strategy), row.combined.timeUs]),
    ]),
  }
  const text =
    products.length === 0
      ? 'No matrices were given (--matrices).'
      : 'These matrices are those of --matrices; the largest of the chapter, human_gene2, is not among them. A rank holds one block of rows of A and of B.'
  return {
    title: 'Sparse products (Fig. 7.14, 7.15)',
    text: [text],
    parts: products.length === 0 ? [] : [table],
  }
}

function leftOutSections(studies: readonly Study[]): Section[] {
  const rows = studies.flatMap(({ subject, leftOut }) =>
    leftOut.map(({ strategy, reason }): Cell[] => [subject.topology, strategy, reason]),
  )
  if (rows.length === 0) return []
  const table: Table = {
    kind: 'table',
    title: 'Left out',
    origin: 'counted',
    source: 'limits of this study',
    columns: titles(['graph', 'strategy', 'reason']),
    rows,
  }
  return [{ title: 'What was left out', text: [], parts: [table] }]
}
