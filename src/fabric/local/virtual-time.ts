import { numberOption, type OptionTable, objectOption, valueOption } from '../../base/option.js'
import { checkOptions } from '../../base/option-table.js'
import { interpolated } from '../../base/search.js'
import { type MessageCosts, type MessageTables, tablesFault } from '../../machine/profile.js'

/** The costs of a frame between two processes, in nanoseconds of virtual time and in the terms of profiles. */
export type VirtualCosts = MessageCosts

export interface VirtualTimeOptions {
  /** The costs between processes of one node. If it has tables of PLogP, they alone count. */
  readonly node: VirtualCosts
  /** The costs between nodes. Default: as `node`. */
  readonly network?: VirtualCosts
}

const cost = numberOption({ least: 0, required: true })
const costs: OptionTable<VirtualCosts> = {
  latencyNs: cost,
  sendOverheadNs: cost,
  receiveOverheadNs: cost,
  gapNs: cost,
  nsPerByte: cost,
  headerBytes: numberOption({ least: 0 }),
  plogp: valueOption('tables of PLogP', (value) => tablesFault(value as MessageTables) === null),
}
const timeOptions: OptionTable<VirtualTimeOptions> = {
  node: objectOption(costs, { required: true }),
  network: objectOption(costs),
}

/** A level of the machine in virtual time. */
interface TimedLevel {
  readonly costs: VirtualCosts
  readonly plogp: {
    readonly latencyNs: number
    gap(bytes: number): number
    sendOverhead(bytes: number): number
    receiveOverhead(bytes: number): number
  } | null
}

function timedLevel(costs: VirtualCosts): TimedLevel {
  if (costs.plogp === undefined) return { costs, plogp: null }
  const { latencyNs, sizesBytes, gapNs, sendOverheadNs, receiveOverheadNs } = costs.plogp
  return {
    costs,
    plogp: {
      latencyNs,
      gap: interpolated(sizesBytes, gapNs),
      sendOverhead: interpolated(sizesBytes, sendOverheadNs),
      receiveOverhead: interpolated(sizesBytes, receiveOverheadNs),
    },
  }
}

/**
 * The time of a local world whose frames take as long as their costs state. Each process has a clock, which advances by
 * the overheads of its frames and by the computing times that the program states; nothing else takes time. It is
 * deterministic and independent of the machine, and serves one session at a time.
 */
export class VirtualTime {
  readonly #node: TimedLevel
  readonly #network: TimedLevel
  #nodes: readonly string[] = []
  #clock = new Float64Array(0)
  /**
   * The times at which the last byte of a process's last frame departed, and at which the last one was taken from the
   * network.
   */
  #departed = new Float64Array(0)
  #sent = new Float64Array(0)
  #arrived = new Float64Array(0)

  /** @throws ERR_ARGUMENT for costs that are missing, negative or not finite */
  constructor(options: VirtualTimeOptions) {
    checkOptions('VirtualTime', timeOptions, options)
    const { node, network = node } = options
    this.#node = timedLevel(node)
    this.#network = timedLevel(network)
  }

  /** Returns the time of a process since the session opened, in nanoseconds. */
  nowNs(process: number): number {
    return this.#clock[process] ?? 0
  }

  /** Advances a process's clock by a computation. */
  compute(process: number, durationNs: number): void {
    this.#clock[process] += durationNs
  }

  /** @internal Starts the clocks of a session that opens. */
  reset(nodes: readonly string[]): void {
    const never = () => new Float64Array(nodes.length).fill(Number.NEGATIVE_INFINITY)
    this.#nodes = nodes
    this.#clock = new Float64Array(nodes.length)
    this.#departed = never()
    this.#sent = never()
    this.#arrived = never()
  }

  /** @internal Sends a frame. @returns when its last byte reaches its receiver, were it the only one */
  send(src: number, dst: number, payloadBytes: number): number {
    if (src === dst) return this.#clock[src]
    const { costs, plogp } = this.#level(src, dst)
    if (plogp !== null) {
      const begin = Math.max(this.#clock[src], this.#sent[src])
      this.#clock[src] += plogp.sendOverhead(payloadBytes)
      this.#departed[src] = begin
      this.#sent[src] = begin + plogp.gap(payloadBytes)
      return Math.max(begin, this.#sent[src] + plogp.latencyNs - plogp.receiveOverhead(payloadBytes))
    }
    const { latencyNs, sendOverheadNs, gapNs, nsPerByte, headerBytes = 0 } = costs
    this.#clock[src] += sendOverheadNs
    const departure = Math.max(this.#clock[src], this.#departed[src] + gapNs, this.#sent[src])
    this.#departed[src] = departure
    this.#sent[src] = departure + (headerBytes + payloadBytes) * nsPerByte
    return this.#sent[src] + latencyNs
  }

  /**
   * @internal Returns when the next frame to a process has arrived, the gap to the one before included. Frames arrive
   *   in the order in which they reach the process, whenever they were sent: a frame from afar does not delay one from
   *   nearby.
   */
  arrivalNs(src: number, dst: number, comesNs: number, payloadBytes: number): number {
    if (src === dst) return comesNs
    const { costs, plogp } = this.#level(src, dst)
    if (plogp === null) return Math.max(comesNs, this.#arrived[dst] + costs.gapNs)
    // The gap of PLogP is from one complete reception to the next.
    const gap = plogp.gap(payloadBytes) - plogp.receiveOverhead(payloadBytes)
    return Math.max(comesNs, this.#arrived[dst] + gap)
  }

  /** @internal Delivers a frame, the first to reach its process. */
  receive(src: number, dst: number, comesNs: number, payloadBytes: number): void {
    if (src === dst) return
    const { costs, plogp } = this.#level(src, dst)
    const arrival = this.arrivalNs(src, dst, comesNs, payloadBytes)
    const overhead = plogp?.receiveOverhead(payloadBytes) ?? costs.receiveOverheadNs
    this.#arrived[dst] = plogp === null ? arrival : arrival + overhead
    this.#clock[dst] = Math.max(this.#clock[dst], arrival) + overhead
  }

  #level(src: number, dst: number): TimedLevel {
    return this.#nodes[src] === this.#nodes[dst] ? this.#node : this.#network
  }
}

/** A frame in flight: the fabric's own copies of header and payload. */
interface TimedFrame {
  readonly src: number
  readonly dst: number
  readonly header: Int32Array
  readonly payload: Uint8Array
  /** The virtual time at which its last byte reaches the receiver. */
  readonly comesNs: number
}

/**
 * The frames in flight of a session in virtual time, in the order in which they reach their receivers; ties keep the
 * order of sending.
 */
export class TimedFrames {
  readonly #time: VirtualTime
  #frames: TimedFrame[] = []

  constructor(time: VirtualTime, nodes: readonly string[]) {
    this.#time = time
    time.reset(nodes)
  }

  send(src: number, dst: number, header: Int32Array, payload: Uint8Array): void {
    const comesNs = this.#time.send(src, dst, payload.byteLength)
    const frames = this.#frames
    let at = frames.length
    while (at > 0 && frames[at - 1].comesNs > comesNs) at--
    frames.splice(at, 0, { src, dst, header, payload, comesNs })
  }

  /** Takes the next frame to arrive at any process. */
  takeFirst(): TimedFrame | undefined {
    return this.#taken(0)
  }

  /** Takes the next frame to a process that has arrived by its clock. */
  takeArrived(process: number): TimedFrame | undefined {
    const now = this.#time.nowNs(process)
    const at = this.#frames.findIndex(({ dst }) => dst === process)
    const next = this.#frames[at]
    if (next === undefined) return undefined
    const { src, comesNs, payload } = next
    return this.#time.arrivalNs(src, process, comesNs, payload.byteLength) <= now
      ? this.#taken(at)
      : undefined
  }

  /** Drops the frames from and to a process, or all; returns how many. */
  drop(process?: number): number {
    const before = this.#frames.length
    this.#frames =
      process === undefined ? [] : this.#frames.filter(({ src, dst }) => src !== process && dst !== process)
    return before - this.#frames.length
  }

  #taken(at: number): TimedFrame | undefined {
    const frame = this.#frames[at]
    if (frame === undefined) return undefined
    this.#frames.splice(at, 1)
    this.#time.receive(frame.src, frame.dst, frame.comesNs, frame.payload.byteLength)
    return frame
  }
}
