import type { MessageTables } from './message-tables.js'

/** The provenance of a figure: given by the user or a data sheet, measured, or assumed for lack of both. */
export const provenances = ['given', 'measured', 'assumed'] as const
export type Provenance = (typeof provenances)[number]

/** The source of a figure: a paper's table, a data sheet, or the machine and date of a measurement. */
export interface Origin {
  readonly provenance: Provenance
  readonly source: string
}

/** Returns the origin of a figure without a better source. */
export function assumed(source: string): Origin {
  return { provenance: 'assumed', source }
}

/**
 * The levels of distance between two ranks, from near to far: in one process, in one package (socket) of a node, in one
 * node, on two nodes.
 */
export const levels = ['process', 'package', 'node', 'network'] as const
export type Level = (typeof levels)[number]

/**
 * The costs of a message of one level in LogGP's terms (Alexandrov et al. 1995), nanoseconds. A message of m bytes
 * occupies the sender for `sendOverheadNs`, then enters the level's way after the gaps of those before it. It arrives
 * `latencyNs + m * nsPerByte` later and occupies the receiver for `receiveOverheadNs`.
 */
export interface MessageCosts {
  /**
   * The latency L, from the first byte's departure to its arrival, without overheads. At level `network`, half of it is
   * spent at each network interface; links between switches or routers add {@link HopCosts}.
   */
  readonly latencyNs: number
  /** The overhead o of the sender, whose processor can do nothing else meanwhile. */
  readonly sendOverheadNs: number
  /** The overhead o of the receiver. */
  readonly receiveOverheadNs: number
  /** The gap g: the least time between two messages of one sender, or between two arrivals at one receiver. */
  readonly gapNs: number
  /** The time G per byte on the way, the inverse of the bandwidth. */
  readonly nsPerByte: number
  /** The bytes of a header that travels with every message, however short. Default 0. */
  readonly headerBytes?: number
  /** The costs by length, if they were measured: formulas of PLogP take them. */
  readonly plogp?: MessageTables
}

/** Returns costs with LogGP's one overhead for both sender and receiver. */
export function messageCosts({ latencyNs, overheadNs, ...rest }: LogGPFigures): MessageCosts {
  return { latencyNs, sendOverheadNs: overheadNs, receiveOverheadNs: overheadNs, ...rest }
}

interface LogGPFigures extends Omit<MessageCosts, 'sendOverheadNs' | 'receiveOverheadNs'> {
  readonly overheadNs: number
}

/** The figures that every level has; below, those of links between switches and of memory. */
export const messageKeys = ['latencyNs', 'sendOverheadNs', 'receiveOverheadNs', 'gapNs', 'nsPerByte'] as const
export const hopKeys = ['latencyNs', 'nsPerByte'] as const
export const memoryKeys = ['copyNsPerByte', 'copyBlockNs', 'reduceNsPerByte'] as const

/** The costs between ranks of one process, which share their values: nothing is sent. */
export const inProcess = messageCosts({ latencyNs: 0, overheadNs: 0, gapNs: 0, nsPerByte: 0 })

/** The costs of data in memory of one rank, nanoseconds. */
export interface MemoryCosts {
  /** The time per byte copied: packing a frame of several blocks, unpacking it, filling a slot. */
  readonly copyNsPerByte: number
  /** The time per block packed or unpacked, whatever its length. */
  readonly copyBlockNs: number
  /** The time gamma per byte of the result of a combination. */
  readonly reduceNsPerByte: number
}

/** The costs of a link between two switches or routers. A cluster has none. */
export interface HopCosts {
  readonly latencyNs: number
  readonly nsPerByte: number
}

/** The costs of a machine's links and memory. Plain data without sizes of machines. */
export interface Profile extends Origin {
  /** The name in machine lines: `profile=simgrid-fast`. Letters, digits, hyphens. */
  readonly name: string
  /**
   * The figures whose source is not the profile's, by path or the beginning of one: `levels.network.gapNs`, `memory`.
   */
  readonly exceptions: Readonly<Record<string, Origin>>
  readonly levels: Readonly<Record<Level, MessageCosts>>
  readonly hop: HopCosts
  readonly memory: MemoryCosts
  /** The cores of a node whose costs these are; absent if the source names none. */
  readonly coresPerNode?: number
  /** The length beyond which messages wait for their receiver (rendezvous); bytes, Infinity if none does. */
  readonly eagerLimitBytes: number
  /**
   * The time per entry that a search of a matching queue passes, in a linked list of posted receives or of unexpected
   * messages; nanoseconds. Default 0: searches take no time.
   */
  readonly matchNsPerEntry?: number
}
