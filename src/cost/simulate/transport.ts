import type { Costs } from './costs.js'
import type { EventQueue } from './event-queue.js'
import type { FramePaths } from './frame-paths.js'
import type { FrameTable } from './frame-table.js'
import { Lines } from './lines.js'
import type { NodePorts } from './node-ports.js'
import { SharedLinks } from './shared-links.js'

export interface Receivers {
  arrived(frame: number, now: number): void
}

export interface TransportSetting {
  readonly paths: FramePaths
  readonly costs: Costs
  /** The ports; null if nodes send any number of messages at once. */
  readonly ports: NodePorts | null
}

/**
 * The way of frames between processors. After its sender's gap, a frame takes the latency of its route. Then its bytes
 * pass the links, shared with others, as soon as its node has a free port. Inside a node there are no links: the frames
 * of one sender follow each other at the gap or the time of their bytes, whichever is longer. A frame has arrived when
 * the gap to the arrival before at its receiver has passed, too.
 */
export class Transport {
  readonly #frames: FrameTable
  readonly #paths: FramePaths
  readonly #costs: Costs
  readonly #queue: EventQueue
  readonly #receivers: Receivers
  readonly #links: SharedLinks
  /** The ports; null if nodes send any number of messages at once. */
  readonly #ports: NodePorts | null
  /** Two lines a process: frames inside the node, until they arrive, and others, until they come to the links. */
  readonly #lines: Lines
  /** The number of events, all of which have smaller numbers. */
  readonly events: number
  // The numbers of the first event of each kind, in order; smaller ones belong to the processors.
  readonly #lineEvents: number
  readonly #linkEvents: number
  readonly #sends: number
  readonly #entries: number
  readonly #arrivals: number
  readonly #afterGap: number
  /** The earliest time at which the next frame of a process may leave, and the next to it may arrive. */
  readonly #sendGap: Float64Array
  readonly #receiveGap: Float64Array

  constructor(
    frames: FrameTable,
    { paths, costs, ports }: TransportSetting,
    queue: EventQueue,
    receivers: Receivers,
  ) {
    const { processes, from } = frames
    this.#frames = frames
    this.#paths = paths
    this.#costs = costs
    this.#queue = queue
    this.#receivers = receivers
    this.#lineEvents = processes
    this.#linkEvents = this.#lineEvents + 2 * processes
    this.#sends = this.#linkEvents + paths.network.latencyNs.length
    this.#entries = this.#sends + from.length
    this.#arrivals = this.#entries + from.length
    this.#afterGap = this.#arrivals + from.length
    this.events = this.#afterGap + from.length
    this.#links = new SharedLinks(paths, costs.wireBytes, queue, this.#linkEvents)
    this.#ports = ports
    this.#lines = new Lines(queue, 2 * processes, from.length, this.#lineEvents)
    this.#sendGap = new Float64Array(processes)
    this.#receiveGap = new Float64Array(processes)
  }

  sendAt(frame: number, time: number): void {
    this.#queue.push(time, this.#sends + frame)
  }

  send(frame: number, now: number): void {
    const { from, processes } = this.#frames
    const { level, messages, wireBytes } = this.#costs
    const process = from[frame]
    const { gapNs, latencyNs, nsPerByte } = messages[level[frame]]
    const at = Math.max(now, this.#sendGap[process])
    if (this.#paths.length[frame] > 0) {
      this.#sendGap[process] = at + gapNs
      this.#lines.add(processes + process, frame, at + this.#paths.latencyNs(frame), this.#entries + frame)
    } else {
      const durationNs = wireBytes[frame] * nsPerByte
      this.#sendGap[process] = at + Math.max(gapNs, durationNs)
      this.#lines.add(process, frame, at + latencyNs + durationNs, this.#arrivals + frame)
    }
  }

  event(number: number, now: number): void {
    if (number < this.#linkEvents) {
      const line = number - this.#lineEvents
      const frame = this.#lines.take(line)
      if (line < this.#frames.processes) this.#arrive(frame, now)
      else this.#enter(frame, now)
    } else if (number < this.#sends) {
      const link = number - this.#linkEvents
      for (let frame = this.#links.through(link, now); frame !== -1; frame = this.#links.through(link, now)) {
        const next = this.#ports === null ? -1 : this.#ports.release(frame)
        this.#arrive(frame, now)
        if (next !== -1) this.#links.enter(next, now)
      }
    } else if (number < this.#entries) this.send(number - this.#sends, now)
    else if (number < this.#arrivals) this.#enter(number - this.#entries, now)
    else if (number < this.#afterGap) this.#arrive(number - this.#arrivals, now)
    else this.#receivers.arrived(number - this.#afterGap, now)
  }

  #enter(frame: number, now: number): void {
    if (this.#costs.wireBytes[frame] === 0) this.#arrive(frame, now)
    else if (this.#ports === null || this.#ports.take(frame)) this.#links.enter(frame, now)
  }

  #arrive(frame: number, now: number): void {
    const process = this.#frames.to[frame]
    const { level, messages } = this.#costs
    const at = Math.max(now, this.#receiveGap[process])
    this.#receiveGap[process] = at + messages[level[frame]].gapNs
    if (at > now) this.#queue.push(at, this.#afterGap + frame)
    else this.#receivers.arrived(frame, now)
  }
}
