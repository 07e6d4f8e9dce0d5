import { join } from 'node:path'
import * as z from 'zod'
import { compileSources, sourcesIn } from '../shim/library.js'
import { fileError } from '../text/whole-file.js'

/** The counts and times of a run of an MPI program, from the end of `MPI_Init` to the beginning of `MPI_Finalize`. */
export interface Profile {
  /** The MPI library and its version: `Open MPI 4.1.4`. */
  readonly mpi: string
  /** The number of processes. */
  readonly ranks: number
  /** The names of the nodes, in the order of their first ranks. */
  readonly nodes: readonly string[]
  /** The processes by rank in `MPI_COMM_WORLD`. */
  readonly processes: readonly ProcessProfile[]
}

export interface ProcessProfile {
  readonly rank: number
  /** The index in `nodes`. */
  readonly node: number
  /** The number of the package of cores to which it is bound; -1 if it may run on several. */
  readonly package: number
  /** The number of the core in the package to which it is bound; -1 if it may run on several. */
  readonly core: number
  readonly seconds: number
  /** The seconds in functions of MPI; of several threads those of the one that has most. Calls have those of all. */
  readonly inMpi: number
  readonly calls: readonly CallProfile[]
  /** Messages of point-to-point calls by their destination, a rank of `MPI_COMM_WORLD`. */
  readonly sends: readonly PeerCount[]
  /** Blocks that are not empty of neighborhood collectives, `MPI_Alltoallv` and `MPI_Alltoallw`, by destination. */
  readonly blocks: readonly PeerCount[]
  /** Messages of point-to-point calls by size: the logarithm of base 2 of the bytes, rounded down; -1 for no byte. */
  readonly sizes: readonly SizeCount[]
  readonly collectives: readonly CollectiveProfile[]
  /** The calls that passed `reorder = 1` to `MPI_Cart_create`, `MPI_Dist_graph_create` or its adjacent form. */
  readonly reorders: number
}

/** The calls of one function. */
export interface CallProfile {
  /** The name in C, also of calls by Fortran: `MPI_Isend`. */
  readonly name: string
  readonly calls: number
  readonly seconds: number
  /** The bytes that calls send, or that collectives contribute; 0 of functions that receive or wait. */
  readonly bytes: number
}

type PeerCount = readonly [rank: number, messages: number, bytes: number]
type SizeCount = readonly [log2: number, messages: number, bytes: number]

/** The calls of a collective on communicators of equal size, in one class of bytes: a power of two. */
interface CollectiveProfile {
  readonly name: string
  /** The processes of the communicator. */
  readonly ranks: number
  /**
   * The mean bytes of a call: the block of a gather, scatter, allgather or exchange, the vector of a broadcast or
   * reduction. With a count per rank, it is the mean of counts that are not zero.
   */
  readonly bytes: number
  readonly calls: number
  /** The seconds in these calls; they include the time until the last rank has called. */
  readonly seconds: number
  /** The counts of these calls that were zero. */
  readonly zeros: number
  /** The counts of these calls; 0 if the collective has no count for each rank. */
  readonly counts: number
}

const whole = z.int().nonnegative()
const seconds = z.number().nonnegative()
const peers = z.array(z.tuple([whole, whole, whole])).readonly()
const format = 'rankweave-profile-1'

const headerSchema = z.looseObject({
  format: z.literal(format),
  mpi: z.string(),
  ranks: z.int().positive(),
  nodes: z.array(z.string()).min(1),
})

const timeSchema = z.looseObject({ format: z.literal(format), seconds })

const processSchema = z.looseObject({
  rank: whole,
  node: whole,
  package: z.int().min(-1).default(-1),
  core: z.int().min(-1).default(-1),
  seconds,
  inMpi: seconds,
  calls: z.array(z.object({ name: z.string(), calls: whole, seconds, bytes: whole })),
  sends: peers,
  blocks: peers,
  sizes: z.array(z.tuple([z.int().min(-1).max(63), whole, whole])),
  reorders: whole.default(0),
  collectives: z.array(
    z.object({
      ...{ name: z.string(), ranks: whole, bytes: whole, calls: z.int().positive(), seconds },
      ...{ zeros: whole.default(0), counts: whole.default(0) },
    }),
  ),
})

/**
 * Reads a file of the mode `profile:FILE`.
 *
 * @param file the name in messages
 * @throws ERR_FILE naming the line if it is not whole
 */
export function readProfile(text: string, file = 'profile'): Profile {
  const lines = linesOf(text)
  const { mpi, ranks, nodes } = parsed(headerSchema, lines, 0, file)
  if (lines.length !== ranks + 1)
    throw fileError('read', file, `expected a line for each of ${ranks} ranks, got ${lines.length - 1}`)
  const processes = lines.slice(1).map((_, rank) => {
    const line = parsed(processSchema, lines, rank + 1, file)
    if (line.rank !== rank) throw wrongLine(file, rank + 1, `rank ${rank}, got ${line.rank}`)
    if (line.node >= nodes.length)
      throw wrongLine(file, rank + 1, `a node below ${nodes.length}, got ${line.node}`)
    const stranger = [...line.sends, ...line.blocks].find(([peer]) => peer >= ranks)
    if (stranger !== undefined) throw wrongLine(file, rank + 1, `a peer below ${ranks}, got ${stranger[0]}`)
    return line
  })
  return { mpi, ranks, nodes, processes }
}

/**
 * Reads a file of the mode `time:FILE`: the seconds of the slowest process.
 *
 * @throws ERR_FILE if it is not whole
 */
export function readSeconds(text: string, file = 'times'): number {
  return parsed(timeSchema, linesOf(text), 0, file).seconds
}

/** A graph of what ranks send each other. */
export interface Traffic {
  readonly ranks: number
  /** The edges by source, then by destination, each pair once. */
  readonly edges: readonly TrafficEdge[]
}

interface TrafficEdge {
  readonly source: number
  readonly destination: number
  /** The messages of point-to-point calls and the blocks of exchanges. */
  readonly messages: number
  readonly bytes: number
}

/**
 * Returns who sends to whom: by point-to-point calls of every form, neighborhood collectives, `MPI_Alltoallv` and
 * `MPI_Alltoallw`. What a rank sends to itself and the messages of other collectives are left out.
 */
export function trafficOf({ ranks, processes }: Profile): Traffic {
  const edges = processes.flatMap(({ rank: source, sends, blocks }) => {
    const byPeer = new Map<number, TrafficEdge>()
    for (const [destination, messages, bytes] of [...sends, ...blocks]) {
      if (destination === source) continue
      const before = byPeer.get(destination)
      byPeer.set(destination, {
        ...{ source, destination },
        messages: messages + (before?.messages ?? 0),
        bytes: bytes + (before?.bytes ?? 0),
      })
    }
    return [...byPeer.values()].sort((a, b) => a.destination - b.destination)
  })
  return { ranks, edges }
}

/** Yields lines that `edges:FILE` reads: an edge has its bytes as weight, and its messages in a comment. */
export function* trafficLines({ ranks, edges }: Traffic): Generator<string> {
  yield `ranks ${ranks}\n`
  for (const { source, destination, messages, bytes } of edges)
    yield `${source} ${destination} ${bytes} # messages: ${messages}\n`
}

/** Returns the nodes and the ranks of each, as `cores` of a cluster reads them: `2x16+1x8`. */
export function nodesText({ nodes, processes }: Profile): string {
  const sizes = nodes.map(() => 0)
  for (const { node } of processes) sizes[node]++
  const runs: { nodes: number; ranks: number }[] = []
  for (const ranks of sizes) {
    const last = runs.at(-1)
    if (last?.ranks === ranks) last.nodes++
    else runs.push({ nodes: 1, ranks })
  }
  return runs.map(({ nodes, ranks }) => `${nodes}x${ranks}`).join('+')
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}

function parsed<T>(schema: z.ZodType<T>, lines: readonly string[], line: number, file: string): T {
  let value: unknown
  try {
    value = JSON.parse(lines[line] ?? '')
  } catch {
    throw wrongLine(file, line, 'an object in JSON, got another text or the end of the file')
  }
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [{ path, message }] = result.error.issues
  throw wrongLine(file, line, `what the profiler writes, got in ${path.join('.') || 'the line'}: ${message}`)
}

function wrongLine(file: string, line: number, expected: string): Error {
  return fileError('read', file, `line ${line + 1}: expected ${expected}`)
}

export const profilerName = 'librankweave_profile.so'

/**
 * Writes the sources of the profiler into `folder` and compiles them there.
 *
 * @param mpicc the compiler of the MPI with which the programs were compiled that are to be profiled
 * @returns the path of the shared library, to be preloaded before others
 * @throws ERR_SHIM if a C source of the package is missing, the folder cannot be written, or the compiler is missing or
 *   fails
 */
export function compileProfiler(folder: string, mpicc: string): string {
  const library = join(folder, profilerName)
  const sources = join(folder, 'profile-sources')
  const files = sourcesIn('profile/c', ['shim/c/own-mpi.c', 'shim/c/own-mpi.h'])
  compileSources({ library, sources, files, header: 'profile.h' }, mpicc, ['-DRW_TOOL="rankweave profile"'])
  return library
}
