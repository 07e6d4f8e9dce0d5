import type { VirtualTime } from './virtual-time.js'

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
