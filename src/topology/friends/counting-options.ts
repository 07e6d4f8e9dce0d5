/** Options of a count over all ranks. */
export interface CountingOptions {
  /** Node of every rank: only ranks of one node count together. Absent or null: all ranks. */
  readonly nodeOf?: Int32Array | null
  /** Steps, a nanosecond or a few each, before giving up. Each count states its default. */
  readonly workLimit?: number
  /** Reports each rank that has been counted, so that a long count can be followed. */
  readonly onRank?: (counted: number, ranks: number) => void
}

/** The reason why nothing was counted: an exact count would take more steps than allowed. */
export interface BeyondLimit {
  readonly kind: 'beyond-limit'
  readonly reason: string
}
