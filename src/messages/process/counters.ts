/** The operations of one rank on any communicator since the world started. */
export interface RankCounters {
  messagesSent: number
  messagesReceived: number
  bytesSent: number
  bytesReceived: number
  collectives: number
}

/**
 * The operations of one process: frames are those that its fabric carried, copies those that this room made in memory.
 */
export interface ProcessCounters {
  framesSent: number
  framesReceived: number
  frameBytesSent: number
  frameBytesReceived: number
  /** The number of times that it published data in memory that others watch, without a frame. */
  publications: number
  /** The point-to-point messages between ranks of this process, which no frame carried. */
  messagesInProcess: number
  /** The payload bytes copied by sends, receives and collectives of this process. */
  bytesCopied: number
}

export function newProcessCounters(): ProcessCounters {
  return {
    framesSent: 0,
    framesReceived: 0,
    frameBytesSent: 0,
    frameBytesReceived: 0,
    publications: 0,
    messagesInProcess: 0,
    bytesCopied: 0,
  }
}

/** The counters of the ranks of one process, by hosted index. */
export class HostedCounters {
  readonly #counters: (RankCounters | undefined)[] = []
  /** The elements of `#counters` that exist. Most ranks of a large world never need any. */
  readonly #made: RankCounters[] = []
  /** The collectives of the ranks that have no counters yet, less {@link #ofAll}. */
  readonly #uncounted: Float64Array
  /** The collectives of every rank that were counted together. */
  #ofAll = 0

  constructor(hostedRanks: number) {
    this.#uncounted = new Float64Array(hostedRanks)
  }

  of(index: number): RankCounters {
    const known = this.#counters[index]
    if (known !== undefined) return known
    const collectives = this.#uncounted[index] + this.#ofAll
    const made = { messagesSent: 0, messagesReceived: 0, bytesSent: 0, bytesReceived: 0, collectives }
    this.#counters[index] = made
    this.#made.push(made)
    return made
  }

  /** Counts a collective of every rank. */
  countCollectives(): void {
    this.#ofAll++
    for (let i = 0; i < this.#made.length; i++) this.#made[i].collectives++
  }

  /** Counts a collective of one rank. */
  countCollective(index: number): void {
    const counters = this.#counters[index]
    if (counters === undefined) this.#uncounted[index]++
    else counters.collectives++
  }
}
