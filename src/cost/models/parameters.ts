/** What data costs in memory of one rank, nanoseconds. */
export interface MemoryParameters {
  /** gamma: per byte of the result of a combination. Default 0. */
  readonly reduceNsPerByte?: number
  /** delta: per byte copied. Default 0. */
  readonly copyNsPerByte?: number
}

/**
 * Hockney 1994: a message of m bytes takes `latencyNs + m * nsPerByte` and its sender can send no other
 * meanwhile.
 */
export interface Hockney extends MemoryParameters {
  readonly model: 'hockney'
  /** alpha */
  readonly latencyNs: number
  /** beta, the inverse of the bandwidth. */
  readonly nsPerByte: number
}

/** Culler et al. 1993: messages of a fixed, short length, whatever their bytes. LogGP with G = 0. */
export interface LogP extends MemoryParameters {
  readonly model: 'logp'
  /** L */
  readonly latencyNs: number
  /** o: of the sender and of the receiver. */
  readonly overheadNs: number
  /** g: least time between two messages of one sender. */
  readonly gapNs: number
}

/** Alexandrov et al. 1995: LogP with a gap G per byte. A message of m bytes takes `L + 2 o + (m - 1) G`. */
export interface LogGP extends MemoryParameters {
  readonly model: 'loggp'
  /** L */
  readonly latencyNs: number
  /** o: of the sender and of the receiver. */
  readonly overheadNs: number
  /** g: least time between two messages of one sender. */
  readonly gapNs: number
  /** G */
  readonly nsPerByte: number
}

/**
 * Kielmann et al. 2000: overheads and gap are functions of the length, measured at a few lengths,
 * interpolated linearly between them and continued along the last interval beyond them. A message of m bytes
 * takes `L + g(m)`.
 */
export interface PLogP extends MemoryParameters {
  readonly model: 'plogp'
  /** L: end to end. */
  readonly latencyNs: number
  /** Lengths of the measurements, ascending from 0; at least one, at most 4,096. */
  readonly sizesBytes: readonly number[]
  /** g(m), at each of `sizesBytes`. */
  readonly gapNs: readonly number[]
  /** o_s(m) */
  readonly sendOverheadNs: readonly number[]
  /** o_r(m) */
  readonly receiveOverheadNs: readonly number[]
}

export type CostModel = Hockney | LogP | LogGP | PLogP
export type ModelName = CostModel['model']
