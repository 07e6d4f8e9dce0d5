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
    const [, name, calls, shortest, longest] = callsLine.exec(line) ?? []
    if (name === undefined) continue
    const blocks = shortest === undefined ? null : ([Number(shortest), Number(longest)] as const)
    functions[name] = { calls: Number(calls), blocks }
  }
  return {
    ...{ file, body, comments, functions, ranks: Number(ranks[1]), communicators: 1, nodes },
    edges: lineEnds(body) - 1,
  }
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
  for (const [name, { calls, blocks }] of Object.entries(graph.functions)) {
    const other = functions[name]
    functions[name] = {
      calls: calls + (other?.calls ?? 0),
      blocks: bothBlocks(blocks, other?.blocks ?? null),
    }
  }
  return {
    ...before,
    functions,
    communicators: before.communicators + 1,
    comments: [...before.comments, ...graph.comments].slice(0, mostComments),
  }
}

function bothBlocks(one: RecordedCalls['blocks'], other: RecordedCalls['blocks']): RecordedCalls['blocks'] {
  if (one === null || other === null) return one ?? other
  return [Math.min(one[0], other[0]), Math.max(one[1], other[1])]
}
