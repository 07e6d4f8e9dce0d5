import type { Profile } from '../../profile/profile.js'
import { profilerName } from '../../profile/profile.js'
import { type CallKind, callKinds, type ProfileSummary, summaryOf } from '../../profile/summary.js'
import type { RecordedExchange } from '../../shim/recorded-graphs.js'
import { percentText, shellWord } from '../../text/printable.js'
import type { Reporter } from './reporter.js'
import { counted, figure, held, type ResultRow, row, secondsText, shown } from './result-rows.js'

/** A run of a program whose graphs were written. */
interface Recording {
  readonly command: readonly string[]
  readonly output: string
  readonly isProfiled: boolean
  /** Null unless the program was profiled to its end. */
  readonly profile: Profile | null
  readonly graphs: readonly WrittenGraph[]
  readonly files: readonly string[]
}

/** A graph that is written. */
export interface WrittenGraph {
  readonly facts: { readonly ranks: number; readonly edges: number; readonly nodes: string | null }
  /** Further facts for the table. */
  readonly words: readonly string[]
  readonly isTraffic: boolean
  /** The exchange of the program over the graph; null if it calls no neighborhood collective on it. */
  readonly exchange: RecordedExchange | null
  lines(): Iterable<string>
}

/** Reports what was recorded, and the next command. */
export function reportGraphs(report: Reporter, recording: Recording): void {
  const { profile, graphs, files } = recording
  const lines = graphs.map(({ facts: { ranks, edges }, words }, i) =>
    shown(files[i], [counted(ranks, 'rank', 'ranks'), counted(edges, 'edge', 'edges'), ...words].join(', ')),
  )
  const next = nextLine(recording)
  report.rows([
    held({ graphs: graphs.map(({ facts }, i) => ({ file: files[i], ...facts })), profile: null }),
    ...(graphs.length > 0 ? lines : [shown('graph', `none is written: ${lackOf(recording)}`)]),
    ...(profile === null ? [] : profileRows(summaryOf(profile))),
    ...(graphs[0] !== undefined && isOnOneNode(graphs[0]) && graphs[0].isTraffic
      ? [shown('study', twoNodes)]
      : []),
    ...(next === null ? [] : [shown('next', next)]),
  ])
}

const twoNodes = 'the one below assumes 2 nodes, because shared memory on one is not simulated'

const isOnOneNode = ({ facts: { nodes } }: WrittenGraph): boolean => /^1x\d+$/.test(nodes ?? '')

/** Returns why a run has no graph. */
function lackOf({ isProfiled, profile }: Recording): string {
  if (profile !== null)
    return 'no rank sends to another one, except in collectives whose messages MPI chooses'
  return isProfiled
    ? 'no process called MPI_Init and MPI_Finalize of the MPI of the libraries; --mpicc names its compiler'
    : `it creates no communicator with a topology; ${profilerName} beside the library would record its messages`
}

/**
 * Returns a command line that runs unmodified; null if no command helps. That for a study has the nodes of the program,
 * and costs of a profile that stands for those of its network. Without nodes, it needs no machine.
 */
function nextLine({ command, output, isProfiled, profile, graphs, files }: Recording): string | null {
  const words = command.map(shellWord).join(' ')
  const [first] = graphs
  if (first === undefined && profile === null)
    return isProfiled ? null : `rankweave record -o ${shellWord(output)} -- ${words}`
  if (first === undefined || (isOnOneNode(first) && !first.isTraffic)) return `rankweave advise -- ${words}`
  const { nodes, ranks } = first.facts
  const graph = shellWord(`edges:${files[0]}`)
  if (nodes === null) return `rankweave topology ${graph}`
  const machine = isOnOneNode(first) ? `nodes=2,cores=${Math.ceil(ranks / 2)}` : nodesOfMachine(nodes)
  const exchange = exchangeWords(first.exchange)
  return `rankweave study ${graph}${exchange} --machine cluster:${machine},profile=simgrid-fast -o study`
}

/** Returns nodes as the text of a cluster has them. */
function nodesOfMachine(nodes: string): string {
  const [, count, cores] = /^(\d+)x(\d+)$/.exec(nodes) ?? []
  return count === undefined ? `cores=${nodes}` : `nodes=${count},cores=${cores}`
}

/** Returns the options of a study that state what the program exchanges. */
function exchangeWords(exchange: RecordedExchange | null): string {
  if (exchange === null) return ''
  const { blocks, operation } = exchange
  return ` --operation ${operation}${blocks === null ? '' : ` --bytes ${[...new Set(blocks)].join()}`}`
}

/** Returns rows that summarize a profile, which is the field `profile` of the object. */
function profileRows(summary: ProfileSummary): readonly ResultRow[] {
  const { seconds, kinds, imbalance, calls, traffic, collectives } = summary
  const { within, between } = traffic
  const kindTexts = callKinds
    .filter((kind) => kinds[kind] >= leastShare)
    .map((kind) => `${percentText(kinds[kind])} ${kindText[kind]}`)
  const [collective] = collectives.filter(({ share }) => share >= leastShare)
  return [
    row(
      'profile',
      summary,
      'time',
      `${secondsText(seconds)}; ${inMpiText(summary)}${kindTexts.length === 0 ? '' : ` (of all: ${kindTexts.join(', ')})`}`,
    ),
    longestCallsRow(calls),
    shown('imbalance', `${imbalance.toFixed(2)}, the longest time outside MPI by the mean`),
    shown(
      'messages',
      traffic.pairs === 0 ? null : `${amountText(within)} within nodes, ${amountText(between)} between them`,
    ),
    shown(
      'collective',
      collective === undefined
        ? null
        : `${collective.name} of ${counted(collective.bytes, 'byte', 'bytes')} on ${counted(collective.ranks, 'rank', 'ranks')}, ${percentText(collective.share)} of the time of all ranks`,
    ),
  ]
}

/** Returns the row of the functions in which most time passes, such as `MPI_Allreduce 50%, MPI_Waitall 49%`. */
export function longestCallsRow(calls: ProfileSummary['calls']): ResultRow {
  const longest = calls.filter(({ share }) => share >= leastShare).slice(0, 3)
  return shown('calls', listed(longest.map(({ name, share }) => `${name} ${percentText(share)}`)))
}

/** Prints `in MPI 48% of the time of all ranks, 64% of the heaviest rank's`. */
export function inMpiText({ inMpi, inMpiOfHeaviest }: ProfileSummary): string {
  return `in MPI ${percentText(inMpi)} of the time of all ranks, ${percentText(inMpiOfHeaviest)} of the heaviest rank's`
}

/** The share of time below which a line leaves a call out. */
const leastShare = 0.005

const kindText: Readonly<Record<CallKind, string>> = {
  moving: 'sending',
  waiting: 'waiting for messages',
  collective: 'in collectives',
  neighborhood: 'in neighborhood collectives',
  'one-sided': 'in one-sided calls',
  files: 'in files',
  other: 'in other calls',
}

const listed = (words: readonly string[]): string | null => (words.length === 0 ? null : words.join(', '))

const amountText = ({ messages, bytes }: { readonly messages: number; readonly bytes: number }): string =>
  `${figure(messages)} with ${figure(bytes)} bytes`
