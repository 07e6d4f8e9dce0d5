import type { MessageTables } from './message-tables.js'

/**
 * How a figure of a profile came about: handed in by the user or a data sheet, measured, or assumed for lack
 * of both.
 */
export const provenances = ['given', 'measured', 'assumed'] as const
export type Provenance = (typeof provenances)[number]

/** Where a figure is from: a paper's table, a data sheet, or the machine and date of a measurement. */
export interface Origin {
  readonly provenance: Provenance
  readonly source: string
}

/** Of a figure that has no better source. */
export function assumed(source: string): Origin {
  return { provenance: 'assumed', source }
}

/**
 * How far apart two ranks are, from near to far: in one process, in one package (socket) of a node, in one
 * node, on two nodes.
 */
export const levels = ['process', 'package', 'node', 'network'] as const
export type Level = (typeof levels)[number]

/**
 * What a message of one level costs in LogGP's terms (Alexandrov et al. 1995), nanoseconds. A message of m
 * bytes occupies the sender for `sendOverheadNs`, then enters the level's way after the gaps of those before
 * it, arrives `latencyNs + m * nsPerByte` later and occupies the receiver for `receiveOverheadNs`.
 */
export interface MessageCosts {
  /**
   * L: from the first byte on its way to the same byte's arrival, without overheads. At level `network` half
   * of it is spent at each network interface; links between switches or routers add {@link HopCosts}.
   */
  readonly latencyNs: number
  /** o of the sender: its processor can do nothing else meanwhile. */
  readonly sendOverheadNs: number
  /** o of the receiver. */
  readonly receiveOverheadNs: number
  /**
   * g: least time between the starts of two messages of one sender, or between two arrivals at one receiver.
   */
  readonly gapNs: number
  /** G: time per byte on the way, the inverse of the bandwidth. */
  readonly nsPerByte: number
  /** Bytes of a header that travels with every message, however short. Default 0. */
  readonly headerBytes?: number
  /** The same by length, where it was measured: formulas of PLogP take it. */
  readonly plogp?: MessageTables
}

/** Costs with LogGP's one overhead: o of the sender is that of the receiver. */
export function messageCosts({ latencyNs, overheadNs, ...rest }: LogGPFigures): MessageCosts {
  return { latencyNs, sendOverheadNs: overheadNs, receiveOverheadNs: overheadNs, ...rest }
}

interface LogGPFigures extends Omit<MessageCosts, 'sendOverheadNs' | 'receiveOverheadNs'> {
  readonly overheadNs: number
}

/** The figures that every level has, and those of links between switches and of memory. */
export const messageKeys = ['latencyNs', 'sendOverheadNs', 'receiveOverheadNs', 'gapNs', 'nsPerByte'] as const
export const hopKeys = ['latencyNs', 'nsPerByte'] as const
export const memoryKeys = ['copyNsPerByte', 'copyBlockNs', 'reduceNsPerByte'] as const

/** Of ranks of one process, which share their values: nothing is sent. */
export const inProcess = messageCosts({ latencyNs: 0, overheadNs: 0, gapNs: 0, nsPerByte: 0 })

/** What data costs in memory of one rank, nanoseconds. */
export interface MemoryCosts {
  /** Per byte copied: packing a frame of several blocks, unpacking it, filling a slot. */
  readonly copyNsPerByte: number
  /** Per block packed or unpacked, whatever its length. */
  readonly copyBlockNs: number
  /** gamma: per byte of the result of a combination. */
  readonly reduceNsPerByte: number
}

/** What a link between two switches or routers costs. A cluster has none. */
export interface HopCosts {
  readonly latencyNs: number
  readonly nsPerByte: number
}

/** What a machine's links and memory cost. Plain data; sizes of machines are not in it. */
export interface Profile extends Origin {
  /** As machine lines name it: `profile=simgrid-fast`. Letters, digits, hyphens. */
  readonly name: string
  /**
   * Figures from elsewhere than the profile's source, by path or the beginning of one:
   * `levels.network.gapNs`, `memory`.
   */
  readonly exceptions: Readonly<Record<string, Origin>>
  readonly levels: Readonly<Record<Level, MessageCosts>>
  readonly hop: HopCosts
  readonly memory: MemoryCosts
  /** Cores of a node whose costs these are; absent where the source names none. */
  readonly coresPerNode?: number
  /** Longer messages wait for their receiver (rendezvous); bytes, Infinity where none does. */
  readonly eagerLimitBytes: number
  /**
   * Per entry that a search of a matching queue passes, in a linked list of posted receives or of unexpected
   * messages; nanoseconds. Default 0: searches take no time.
   */
  readonly matchNsPerEntry?: number
}
