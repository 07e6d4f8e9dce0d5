/** How a figure of a profile came about: handed in by the user or a data sheet, measured, or assumed for lack of both. */
export type Provenance = 'given' | 'measured' | 'assumed'

/**
 * How far apart two ranks are, from near to far: in one process, in one package (socket) of a node, in one node, on two nodes.
 */
export const levels = ['process', 'package', 'node', 'network'] as const
export type Level = (typeof levels)[number]

/**
 * What a message of one level costs in LogGP's terms (Alexandrov et al. 1995), nanoseconds. A message of m bytes
 * occupies the sender for `sendOverheadNs`, then enters the level's way after the gaps of those before it, arrives
 * `latencyNs + m * nsPerByte` later and occupies the receiver for `receiveOverheadNs`.
 */
export interface MessageCosts {
  /** L: from the first byte on its way to the same byte's arrival, without overheads. At level `network` for a whole route. */
  readonly latencyNs: number
  /** o of the sender: its processor can do nothing else meanwhile. */
  readonly sendOverheadNs: number
  /** o of the receiver. */
  readonly receiveOverheadNs: number
  /** g: least time between the starts of two messages of one sender, or between two arrivals at one receiver. */
  readonly gapNs: number
  /** G: time per byte on the way, the inverse of the bandwidth. */
  readonly nsPerByte: number
}

/** What data costs in memory of one rank, nanoseconds. */
export interface MemoryCosts {
  /** Per byte copied: packing a frame of several blocks, unpacking it, filling a slot. */
  readonly copyNsPerByte: number
  /** Per block packed or unpacked, whatever its length. */
  readonly copyBlockNs: number
  /** gamma: per byte of the result of a combination. */
  readonly reduceNsPerByte: number
}

/** What a machine's links and memory cost. Plain data; sizes of machines are not in it. */
export interface Profile {
  /** As machine lines name it: `profile=simgrid-fast`. Letters, digits, hyphens. */
  readonly name: string
  /** Where the figures are from: a paper's table, a data sheet, or the machine and date of a measurement. */
  readonly source: string
  readonly provenance: Provenance
  /** Figures with another provenance than the profile, by path: `levels.network.gapNs`. */
  readonly exceptions: Readonly<Record<string, Provenance>>
  readonly levels: Readonly<Record<Level, MessageCosts>>
  readonly memory: MemoryCosts
  /** Longer messages wait for their receiver (rendezvous); bytes, Infinity where none does. */
  readonly eagerLimitBytes: number
}
