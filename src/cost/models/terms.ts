import { interpolated } from '../../base/search.js'

/** The costs of messages in one model, in nanoseconds: the terms of which formulas of all models consist. */
interface CommonTerms {
  /** The cost gamma per byte combined. */
  readonly gamma: number
  /** The cost delta per byte copied. */
  readonly delta: number
  /** Returns the time of one message, from the start of the send to its reception. */
  message(bytes: number): number
  /** Returns the time from the start of a send to that of the same rank's next. */
  gap(bytes: number): number
  /** Returns the time of one step of an exchange, after which the next begins: the message or, if longer, the gap. */
  step(bytes: number): number
  /** Returns the time of a step if the gap never overlaps the latency: the worst case. */
  turn(bytes: number): number
  /** Returns the time from one segment that a rank receives and forwards to so many children to the next. */
  forward(bytes: number, children: number): number
}

export interface HockneyTerms extends CommonTerms {
  readonly model: 'hockney'
  readonly alpha: number
  readonly beta: number
}

/** The terms of LogP and LogGP. */
export interface LogGPTerms extends CommonTerms {
  readonly model: 'loggp'
  readonly L: number
  readonly o: number
  readonly g: number
  readonly G: number
  /** Returns (bytes - 1) G; 0 for an empty message. */
  bytes(bytes: number): number
}

export interface PLogPTerms extends CommonTerms {
  readonly model: 'plogp'
  readonly L: number
  g(bytes: number): number
  /** Returns the sender's overhead o_s. */
  os(bytes: number): number
  /** Returns the receiver's overhead o_r. */
  or(bytes: number): number
}

export type Terms = HockneyTerms | LogGPTerms | PLogPTerms

/** Returns the terms of a model whose parameters are valid. */
export function termsOf(model: CostModel): Terms {
  switch (model.model) {
    case 'hockney':
      return hockneyTerms(model)
    case 'plogp':
      return pLogPTerms(model)
    default:
      return logGPTerms(model)
  }
}

function hockneyTerms({ latencyNs, nsPerByte, reduceNsPerByte, copyNsPerByte }: Hockney): HockneyTerms {
  const message = (bytes: number): number => latencyNs + nsPerByte * bytes
  return {
    model: 'hockney',
    alpha: latencyNs,
    beta: nsPerByte,
    gamma: reduceNsPerByte ?? 0,
    delta: copyNsPerByte ?? 0,
    message,
    gap: message,
    step: message,
    turn: message,
    forward: (bytes, children) => children * message(bytes),
  }
}

function logGPTerms(model: LogP | LogGP): LogGPTerms {
  const { latencyNs: L, overheadNs: o, gapNs: g } = model
  const G = model.model === 'loggp' ? model.nsPerByte : 0
  const perBytes = (bytes: number): number => Math.max(0, bytes - 1) * G
  const gap = (bytes: number): number => g + perBytes(bytes)
  return {
    model: 'loggp',
    L,
    o,
    g,
    G,
    gamma: model.reduceNsPerByte ?? 0,
    delta: model.copyNsPerByte ?? 0,
    bytes: perBytes,
    message: (bytes) => L + 2 * o + perBytes(bytes),
    gap,
    step: (bytes) => o + Math.max(g, L + o) + perBytes(bytes),
    turn: (bytes) => L + o + g + perBytes(bytes),
    forward: (bytes, children) => o + children * gap(bytes),
  }
}

function pLogPTerms(model: PLogP): PLogPTerms {
  const { latencyNs: L, sizesBytes, gapNs, sendOverheadNs, receiveOverheadNs } = model
  const g = interpolated(sizesBytes, gapNs)
  const os = interpolated(sizesBytes, sendOverheadNs)
  const or = interpolated(sizesBytes, receiveOverheadNs)
  const message = (bytes: number): number => L + g(bytes)
  return {
    model: 'plogp',
    L,
    g,
    os,
    or,
    gamma: model.reduceNsPerByte ?? 0,
    delta: model.copyNsPerByte ?? 0,
    message,
    gap: g,
    step: message,
    turn: message,
    // The printed form for one child takes the overheads to be hidden.
    forward: (bytes, children) =>
      children === 1
        ? g(bytes)
        : Math.max(children * g(bytes), or(bytes) + (children - 1) * g(bytes) + os(bytes)),
  }
}

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
