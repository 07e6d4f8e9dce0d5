import { createHash } from 'node:crypto'
import { RankweaveError } from '../errors.js'

/** The calls of one function on communicators of one graph. */
interface RecordedCalls {
  readonly calls: number
  /** The bytes of the shortest and of the longest block; null if there was none. */
  readonly blocks: readonly [shortest: number, longest: number] | null
}

/** A graph that communicators of a program have had, from files of the preloaded library. */
export interface RecordedGraph {
  readonly ranks: number
  readonly edges: number
  readonly communicators: number
  /**
   * The nodes and the ranks of each, as `cores` of a cluster reads them: `2x16+8`; null if the library did not record
   * them. Ranks of a node need not be consecutive.
   */
  readonly nodes: string | null
  /** The calls by function of MPI, of every form: `MPI_Neighbor_allgather`, `MPI_Ineighbor_alltoallv`. */
  readonly functions: Readonly<Record<string, RecordedCalls>>
  /** A file with the graph, and the lines about calls of all communicators. */
  readonly file: string
  readonly comments: readonly string[]
}

/** The exchange of a program over a graph. */
export interface RecordedExchange {
  /** The operation of most of its calls. Messages between two ranks are those of an alltoall: each has data of its own. */
  readonly operation: 'neighbor-allgather' | 'neighbor-alltoall'
  /** The bytes of the shortest and of the longest block; null if no length was recorded. */
  readonly blocks: readonly [shortest: number, longest: number] | null
}

/** The most lines about communicators that a graph keeps. */
const mostComments = 64

/**
 * Returns the graphs of a run, those with most calls first: communicators of the same graph are one.
 *
 * @param files names of files that the library has written
 * @param read their text; one at a time is in memory
 * @throws ERR_SHIM for a file that the library has not written, or that cannot be read, for instance because it is
 *   longer than a text can be
 */
export function recordedGraphs(files: readonly string[], read: (file: string) => string): RecordedGraph[] {
  const byGraph = new Map<string, RecordedGraph>()
  for (const file of files) {
    const graph = graphOf(file, textOf(file, read))
    const key = createHash('sha256').update(graph.body).digest('hex')
    byGraph.set(key, merged(byGraph.get(key), graph))
  }
  const calls = (graph: RecordedGraph) =>
    Object.values(graph.functions).reduce((sum, { calls }) => sum + calls, 0)
  return [...byGraph.values()].sort((a, b) => calls(b) - calls(a))
}

/** Returns the graph of a file of the library: the lines that `rankweave plan edges:FILE` reads, without comments. */
export function graphLines(text: string): string {
  return text.replace(/^(#.*\n)*/, '')
}

/** The first line of a file with messages between ranks instead of calls of neighborhood collectives. */
export const trafficLine = '# who sends to whom: the weight of an edge is its bytes'

const averagesLine = /^# (\d+) messages, (\d+) to (\d+) bytes each on average of an edge$/

/** Returns the line about the lengths of messages, of which each edge has its average. */
export function averagesText(
  edges: readonly { readonly messages: number; readonly bytes: number }[],
): string {
  const averages = edges.map(({ bytes, messages }) => Math.round(bytes / messages)).sort((a, b) => a - b)
  const messages = edges.reduce((sum, edge) => sum + edge.messages, 0)
  return `# ${messages} messages, ${averages[0]} to ${averages.at(-1)} bytes each on average of an edge`
}

/** Returns what the comments at the head of a graph say about its exchange; null if they say nothing. */
export function recordedExchange(text: string): RecordedExchange | null {
  const [head] = /^(#.*\n)*/.exec(text)!
  const lines = head.split('\n')
  if (lines.includes(trafficLine)) {
    const averages = lines.map((line) => averagesLine.exec(line)).find((found) => found !== null)
    const blocks = averages == null ? null : ([Number(averages[2]), Number(averages[3])] as const)
    return { operation: 'neighbor-alltoall', blocks }
  }
  const of = (operation: RecordedExchange['operation']) => {
    const name = operation.replace('neighbor-', '_')
    const own = lines.flatMap((line) => callsIn(line)).filter((each) => each.name.includes(name))
    const none: RecordedCalls = { calls: 0, blocks: null }
    const { calls, blocks } = own.reduce<RecordedCalls>(bothCalls, none)
    return { operation, calls, blocks }
  }
  const [gathered, exchanged] = [of('neighbor-allgather'), of('neighbor-alltoall')]
  const { calls, ...most } = exchanged.calls > gathered.calls ? exchanged : gathered
  return calls === 0 ? null : most
}

function textOf(file: string, read: (file: string) => string): string {
  try {
    return read(file)
  } catch (cause) {
    throw new RankweaveError('ERR_SHIM', `cannot read ${file}: ${(cause as Error).message}`, { cause })
  }
}

interface OneGraph extends RecordedGraph {
  readonly body: string
}

const nodesLine = /^# nodes of the ranks: ([\dx+]+)$/
const callsLine = /^# (MPI_\w+): (\d+) calls, the first is call \d+(?:, blocks of (\d+) to (\d+) bytes)?$/

function graphOf(file: string, text: string): OneGraph {
  const body = graphLines(text)
  const ranks = /^ranks (\d+)\n/.exec(body)
  if (ranks === null || !body.endsWith('\n'))
    throw new RankweaveError('ERR_SHIM', `${file} is not a whole file of the preloaded library`)
  const comments = text
    .slice(0, text.length - body.length)
    .split('\n')
    .slice(0, -1)
  const functions: Record<string, RecordedCalls> = {}
  let nodes: string | null = null
  for (const line of comments) {
    nodes ??= nodesLine.exec(line)?.[1] ?? null
    for (const { name, ...calls } of callsIn(line)) functions[name] = calls
  }
  return {
    ...{ file, body, comments, functions, ranks: Number(ranks[1]), communicators: 1, nodes },
    edges: lineEnds(body) - 1,
  }
}

/** Returns the calls that a comment states; none of other comments. */
function callsIn(line: string): readonly (RecordedCalls & { readonly name: string })[] {
  const [, name, calls, shortest, longest] = callsLine.exec(line) ?? []
  if (name === undefined) return []
  const blocks = shortest === undefined ? null : ([Number(shortest), Number(longest)] as const)
  return [{ name, calls: Number(calls), blocks }]
}

/** Counts line ends without a list of lines: a file may be nearly as long as a text can be. */
function lineEnds(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}

function merged(before: RecordedGraph | undefined, { body: _, ...graph }: OneGraph): RecordedGraph {
  if (before === undefined) return graph
  const functions: Record<string, RecordedCalls> = { ...before.functions }
  for (const [name, calls] of Object.entries(graph.functions)) {
    const other = functions[name]
    functions[name] = other === undefined ? calls : bothCalls(other, calls)
  }
  return {
    ...before,
    functions,
    communicators: before.communicators + 1,
    comments: [...before.comments, ...graph.comments].slice(0, mostComments),
  }
}

function bothCalls(a: RecordedCalls, b: RecordedCalls): RecordedCalls {
  const calls = a.calls + b.calls
  if (a.blocks === null || b.blocks === null) return { calls, blocks: a.blocks ?? b.blocks }
  return { calls, blocks: [Math.min(a.blocks[0], b.blocks[0]), Math.max(a.blocks[1], b.blocks[1])] }
}
