/** The costs of data in the memory of one rank, in nanoseconds. */
export interface MemoryParameters {
  /** The cost gamma per byte of the result of a combination. Default 0. */
  readonly reduceNsPerByte?: number
  /** The cost delta per byte copied. Default 0. */
  readonly copyNsPerByte?: number
}

/** The model of Hockney 1994: a message of m bytes occupies its sender for `latencyNs + m * nsPerByte`. */
export interface Hockney extends MemoryParameters {
  readonly model: 'hockney'
  /** The latency alpha. */
  readonly latencyNs: number
  /** The inverse beta of the bandwidth. */
  readonly nsPerByte: number
}

/** The model of Culler et al. 1993: messages of a fixed, short length, whatever their bytes. LogGP with G = 0. */
export interface LogP extends MemoryParameters {
  readonly model: 'logp'
  /** The latency L. */
  readonly latencyNs: number
  /** The overhead o of the sender, and of the receiver. */
  readonly overheadNs: number
  /** The least time g between two messages of one sender. */
  readonly gapNs: number
}

/**
 * The model of Alexandrov et al. 1995: LogP with a gap G per byte. A message of m bytes takes `L + 2 o + (m - 1) G`.
 */
export interface LogGP extends MemoryParameters {
  readonly model: 'loggp'
  /** The latency L. */
  readonly latencyNs: number
  /** The overhead o of the sender, and of the receiver. */
  readonly overheadNs: number
  /** The least time g between two messages of one sender. */
  readonly gapNs: number
  /** The gap G per byte. */
  readonly nsPerByte: number
}

/**
 * The model of Kielmann et al. 2000, where overheads and gap are functions of the length. They are measured at a few
 * lengths, interpolated linearly between them and continued along the last interval beyond them. A message of m bytes
 * takes `L + g(m)`.
 */
export interface PLogP extends MemoryParameters {
  readonly model: 'plogp'
  /** The latency L, end to end. */
  readonly latencyNs: number
  /** The lengths of the measurements, ascending from 0; at least one, at most 4,096. */
  readonly sizesBytes: readonly number[]
  /** The gaps g(m), at each of `sizesBytes`. */
  readonly gapNs: readonly number[]
  /** The overheads o_s(m) of the sender. */
  readonly sendOverheadNs: readonly number[]
  /** The overheads o_r(m) of the receiver. */
  readonly receiveOverheadNs: readonly number[]
}

export type CostModel = Hockney | LogP | LogGP | PLogP
export type ModelName = CostModel['model']
