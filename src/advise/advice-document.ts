import type { BarPlot, Document, Section, Table } from '../document/document.js'
import { callKinds, type ProfileSummary } from '../profile/summary.js'
import { type Advice, reasonText } from './advice.js'

/** A program as its advice page shows it, besides the advice itself. */
export interface AdvisedProgram {
  /** The command as it is started today, as one line. */
  readonly command: string
  readonly profile: ProfileSummary
  /** The lines to type; empty if the command should stay as it is. */
  readonly use: readonly string[]
  /** The rows that the command prints above its verdict. */
  readonly rows: readonly (readonly [label: string, text: string])[]
}

/** The most functions, and the most kinds of calls of collectives, in a table. */
const mostRows = 24

/** Returns a page of an advice: the verdict, what was tried, and the profile on which it rests. */
export function adviceDocument(advice: Advice, { command, profile, rows, use }: AdvisedProgram): Document {
  const source = `${profile.mpi}, ${profile.ranks} ranks on ${profile.nodes} ${profile.nodes === 1 ? 'node' : 'nodes'}, ${profile.seconds.toFixed(2)} s`
  return {
    title: 'What would make this program faster',
    text: [command, advice.verdict, ...use.map((line) => `Use: ${line}`)],
    sections: [
      { title: 'In short', text: [], parts: [shortTable(rows, source)] },
      { title: 'Changes', text: [], parts: [changesTable(advice, source)] },
      timeSection(profile, source),
      messagesSection(profile, source),
    ],
  }
}

function shortTable(rows: AdvisedProgram['rows'], source: string): Table {
  return {
    ...{ kind: 'table', title: 'What the command prints', origin: 'measured', source },
    columns: titled('what', 'found'),
    rows,
  }
}

function changesTable({ tried, untried, together }: Advice, source: string): Table {
  const compared = [
    ...tried.map(({ name, share, what, gain }) => ({ name: name as string, share, what, gain })),
    ...(together === null
      ? []
      : [{ name: 'together', share: null, what: 'all that gained', gain: together }]),
  ]
  return {
    ...{ kind: 'table', title: 'Gains in pairs of runs', origin: 'measured', source },
    columns: titled(
      'change',
      "can save at most % of the heaviest rank's time",
      'times as fast',
      '95% from',
      '95% to',
      'pairs',
      'what',
    ),
    rows: [
      ...compared.map(({ name, share, what, gain }) => [
        ...[name, share === null ? null : percents(share), rounded(gain.ratio)],
        ...(gain.interval === null ? [null, null] : gain.interval.map(rounded)),
        ...[gain.pairs, what],
      ]),
      ...untried.map(({ name, share, ...change }) => [
        ...[name, percents(share), null, null, null, null],
        reasonText(change),
      ]),
    ],
  }
}

function timeSection(
  { calls, collectives, imbalance, inMpi, inMpiOfHeaviest, kinds }: ProfileSummary,
  source: string,
): Section {
  const bars: BarPlot = {
    ...{ kind: 'bars', name: 'time', title: 'Where the time goes', origin: 'measured', source },
    unit: ofAllRanks,
    parts: ['share'],
    bars: [
      { name: 'outside MPI', values: [percents(1 - inMpi)] },
      ...callKinds
        .filter((kind) => kinds[kind] > 0)
        .map((kind) => ({ name: kind, values: [percents(kinds[kind])] })),
    ],
  }
  const functions: Table = {
    ...{ kind: 'table', title: 'Functions of MPI', origin: 'measured', source },
    columns: titled('function', 'calls', 'seconds of all ranks', ofAllRanks, 'bytes'),
    rows: calls
      .slice(0, mostRows)
      .map((one) => [one.name, one.calls, one.seconds, percents(one.share), one.bytes]),
  }
  const bySize: Table = {
    ...{ kind: 'table', title: 'Collectives by size', origin: 'measured', source },
    columns: titled('collective', 'ranks', 'mean bytes', 'calls', ofAllRanks, '% of counts zero'),
    rows: collectives
      .slice(0, mostRows)
      .map((one) => [
        ...[one.name, one.ranks, one.bytes, one.calls, percents(one.share)],
        one.zeros === null ? null : percents(one.zeros),
      ]),
  }
  return {
    title: 'Time',
    text: [
      `The heaviest rank spends ${percents(inMpiOfHeaviest)}% of its time in MPI; all ranks together spend ${percents(inMpi)}% of theirs.`,
      `The rank that computes longest outside MPI takes ${rounded(imbalance)} times the mean of all ranks.`,
      'Calls of the kind waiting return when a message or another process has arrived. The time of a collective includes that until its last rank has called.',
    ],
    parts: [bars, functions, ...(collectives.length === 0 ? [] : [bySize])],
  }
}

function messagesSection({ sizes, traffic }: ProfileSummary, source: string): Section {
  const where: Table = {
    ...{ kind: 'table', title: 'Messages within nodes and between them', origin: 'counted', source },
    columns: titled('where', 'messages', 'bytes'),
    rows: [
      ['within nodes', traffic.within.messages, traffic.within.bytes],
      ['between nodes', traffic.between.messages, traffic.between.bytes],
    ],
  }
  const bySize: Table = {
    ...{ kind: 'table', title: 'Messages by size', origin: 'counted', source },
    columns: titled('bytes from', 'messages', 'bytes'),
    rows: sizes.map(({ from, messages, bytes }) => [from, messages, bytes]),
  }
  return {
    title: 'Messages',
    text: [`${traffic.pairs.toLocaleString('en-US')} pairs of ranks exchange messages.`],
    parts: [where, ...(sizes.length === 0 ? [] : [bySize])],
  }
}

const ofAllRanks = '% of the time of all ranks'
const titled = (...titles: readonly string[]) => titles.map((title) => ({ title }))
const percents = (share: number) => Math.round(1000 * share) / 10
const rounded = (value: number) => Math.round(100 * value) / 100
