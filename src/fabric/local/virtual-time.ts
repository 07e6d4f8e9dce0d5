import { numberOption, type OptionTable, objectOption } from '../../base/option.js'
import { checkOptions } from '../../base/option-table.js'
import type { MessageCosts } from '../../machine/profile.js'

/** What a frame costs between two processes, nanoseconds of virtual time, in the terms of profiles. */
export type VirtualCosts = MessageCosts

export interface VirtualTimeOptions {
  /** Between processes of one node. */
  readonly node: VirtualCosts
  /** Between nodes. Default: as `node`. */
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
}
const timeOptions: OptionTable<VirtualTimeOptions> = {
  node: objectOption(costs, { required: true }),
  network: objectOption(costs),
}

/**
 * Time of a local world whose frames take as long as they are given to take: a clock per process, which
 * advances by the overheads of its frames and by what the program says that it computes; nothing else takes
 * time. Deterministic, and independent of the machine. For one session at a time.
 */
export class VirtualTime {
  readonly #node: VirtualCosts
  readonly #network: VirtualCosts
  #nodes: readonly string[] = []
  #clock = new Float64Array(0)
  /**
   * When the last frame of a process departed, with its last byte, and when the last one was taken from the
   * network.
   */
  #departed = new Float64Array(0)
  #sent = new Float64Array(0)
  #arrived = new Float64Array(0)

  /** @throws ERR_ARGUMENT for costs that are missing, negative or not finite */
  constructor(options: VirtualTimeOptions) {
    checkOptions('VirtualTime', timeOptions, options)
    const { node, network = node } = options
    this.#node = node
    this.#network = network
  }

  /** Time of a process since the session opened, nanoseconds. */
  nowNs(process: number): number {
    return this.#clock[process] ?? 0
  }

  /** A process computes for so long. */
  compute(process: number, durationNs: number): void {
    this.#clock[process] += durationNs
  }

  /** @internal A session opens. */
  reset(nodes: readonly string[]): void {
    const never = () => new Float64Array(nodes.length).fill(Number.NEGATIVE_INFINITY)
    this.#nodes = nodes
    this.#clock = new Float64Array(nodes.length)
    this.#departed = never()
    this.#sent = never()
    this.#arrived = never()
  }

  /** @internal A frame is sent. @returns when its last byte comes to its receiver, were it the only one */
  send(src: number, dst: number, payloadBytes: number): number {
    if (src === dst) return this.#clock[src]
    const { latencyNs, sendOverheadNs, gapNs, nsPerByte, headerBytes = 0 } = this.#costs(src, dst)
    this.#clock[src] += sendOverheadNs
    const departure = Math.max(this.#clock[src], this.#departed[src] + gapNs, this.#sent[src])
    this.#departed[src] = departure
    this.#sent[src] = departure + (headerBytes + payloadBytes) * nsPerByte
    return this.#sent[src] + latencyNs
  }

  /**
   * @internal When the next frame to a process has arrived, the gap to the one before included. Frames arrive
   * in the order in which they come, whenever they were sent: one from far away does not hold up one from
   * near by.
   */
  arrivalNs(src: number, dst: number, comesNs: number): number {
    return src === dst ? comesNs : Math.max(comesNs, this.#arrived[dst] + this.#costs(src, dst).gapNs)
  }

  /** @internal A frame is delivered, of those to its process the first to come. */
  receive(src: number, dst: number, comesNs: number): void {
    if (src === dst) return
    const arrival = this.arrivalNs(src, dst, comesNs)
    this.#arrived[dst] = arrival
    this.#clock[dst] = Math.max(this.#clock[dst], arrival) + this.#costs(src, dst).receiveOverheadNs
  }

  #costs(src: number, dst: number): VirtualCosts {
    return this.#nodes[src] === this.#nodes[dst] ? this.#node : this.#network
  }
}
