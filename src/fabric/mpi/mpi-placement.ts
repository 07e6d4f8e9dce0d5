import { availableParallelism } from 'node:os'
import { allowedProcessors, processorsIn } from '../../base/allowed-processors.js'
import { addToList } from '../../base/maps.js'
import type { MpiLibrary } from './mpi-library.js'
import { MpiMemory } from './mpi-memory.js'

/**
 * The most bytes of a text. It exceeds any library's MPI_MAX_PROCESSOR_NAME, and the list of cores of all but the
 * strangest bindings.
 */
const maxTextBytes = 508

/** The nodes and cores on which the processes of a job run. */
export interface Placement {
  /** The node label of every process: processes that can share memory have the same one. */
  readonly nodes: readonly string[]
  /** The number of processes per core of this node. */
  readonly processesPerCore: number
  /** Whether some node has more processes than cores: the same on every process. */
  readonly isOversubscribed: boolean
}

/** A process of a job, and the library that it called to initialize MPI. */
export interface JobProcess {
  readonly library: MpiLibrary
  readonly process: number
  readonly processes: number
}

/** Finds where the processes of a job run. All of them call it. */
export function placement(job: JobProcess): Placement {
  const leaders = leadersOf(job)
  const nodes = labelsOf(leaders, allTexts(job, processorName(job)))
  const perCore = processesPerCoreByNode(
    leaders,
    allTexts(job, `${availableParallelism()} ${allowedProcessors()}`),
  )
  return {
    nodes,
    processesPerCore: perCore.get(leaders[job.process])!,
    isOversubscribed: [...perCore.values()].some((processes) => processes > 1),
  }
}

/**
 * Returns the processes per core on every node, by its leader.
 *
 * @param leaders of every process
 * @param texts of every process: the cores of its node, and where it may run as Linux reports it: `8 0-3,8`
 */
export function processesPerCoreByNode(
  leaders: ArrayLike<number>,
  texts: readonly string[],
): ReadonlyMap<number, number> {
  const coresOf = new Map<number, string[]>()
  const availableOf = new Map<number, number>()
  texts.forEach((text, process) => {
    const leader = leaders[process]
    const [available, cores = ''] = text.split(' ')
    addToList(coresOf, leader, cores)
    // A text that is too long counts as empty: another process of the node has the number.
    availableOf.set(leader, Math.max(availableOf.get(leader) ?? 1, Number(available)))
  })
  return new Map(
    Array.from(coresOf, ([leader, cores]) => [
      leader,
      countProcessesPerCore(cores, availableOf.get(leader)!),
    ]),
  )
}

/**
 * Returns the processes per core on a node.
 *
 * @param cores where each of its processes may run, as Linux reports it: "0-3,8"; empty if it is unknown
 * @param available cores of the node, used if some are unknown
 */
export function countProcessesPerCore(cores: readonly string[], available: number): number {
  if (cores.includes('')) return cores.length / available
  return cores.length / new Set(cores.flatMap(processorsIn)).size
}

/** Returns, for every process, the first process that it shares memory with. */
function leadersOf({ library, process, processes }: JobProcess): Int32Array {
  const { abi, calls, addressOf } = library
  const memory = new MpiMemory(64, addressOf)
  const { address, words } = memory
  calls.commSplitType(abi.commWorld, abi.commTypeShared, process, abi.infoNull, address)
  const node = memory.number(0, abi.handleBytes)
  calls.commSize(node, address + 16)
  const onNode = new MpiMemory(4 * words[4], addressOf)
  words[8] = process
  calls.allgather(address + 32, 1, abi.int, onNode.address, 1, abi.int, node)
  calls.commFree(address)
  const all = new MpiMemory(4 * processes, addressOf)
  calls.allgather(onNode.address, 1, abi.int, all.address, 1, abi.int, abi.commWorld)
  return all.words.slice(0, processes)
}

function processorName({ library }: JobProcess): string {
  const memory = new MpiMemory(16 + maxTextBytes, library.addressOf)
  library.calls.getProcessorName(memory.address + 16, memory.address)
  return textAt(memory.bytes, 16)
}

/** Gathers a short text of every process; one that is too long counts as empty. */
export function allTexts({ library, processes }: JobProcess, mine: string): string[] {
  const { abi, calls, addressOf } = library
  const recordBytes = maxTextBytes + 4
  const memory = new MpiMemory((processes + 1) * recordBytes, addressOf)
  const { address, bytes } = memory
  const text = Buffer.from(mine, 'latin1')
  if (text.length <= maxTextBytes) bytes.set(text, processes * recordBytes)
  const from = address + processes * recordBytes
  calls.allgather(from, recordBytes, abi.byte, address, recordBytes, abi.byte, abi.commWorld)
  return Array.from({ length: processes }, (_, p) => textAt(bytes, p * recordBytes))
}

function textAt(bytes: Uint8Array, at: number): string {
  return Buffer.from(bytes.subarray(at, bytes.indexOf(0, at))).toString('latin1')
}

/**
 * Returns the name of the leader's processor, numbered if it is not unique: containers on one host may share a name but
 * no memory.
 */
function labelsOf(leaders: Int32Array, names: readonly string[]): string[] {
  const taken = new Map<string, number>()
  const labels = new Map<number, string>()
  for (const leader of leaders) {
    if (labels.has(leader)) continue
    const name = names[leader]
    const count = (taken.get(name) ?? 0) + 1
    taken.set(name, count)
    labels.set(leader, count === 1 ? name : `${name}#${count}`)
  }
  return Array.from(leaders, (leader) => labels.get(leader)!)
}
