import type { Network } from '../../machine/network.js'
import { type Costs, networkLevel, type ProcessPlaces } from './costs.js'
import { EventQueue } from './event-queue.js'
import type { FrameTable } from './frame-table.js'

interface Receivers {
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

/**
 * Messages on links. A link divides its bandwidth equally among the messages that have bytes to pass it. The bytes of a
 * message pass all links of its route at the same time. The message is through when the last link is done with it.
 *
 * A link has its own clock, which counts the bytes that every message on it has been given. On this clock the end of a
 * message never changes. It runs in proportion to real time divided by the messages on the link.
 */
class SharedLinks {
  readonly #paths: FramePaths
  readonly #bytes: Float64Array
  readonly #queue: EventQueue
  readonly #events: number
  /** The number of messages on every link. */
  readonly #count: Int32Array
  /** The link's clock, and the real time of that reading. */
  readonly #clock: Float64Array
  readonly #at: Float64Array
  /** The next event of a link; Infinity for none. Others that are in the queue have been superseded. */
  readonly #due: Float64Array
  /** Whether messages have come since `#due` was found. */
  readonly #isLater: Uint8Array
  /**
   * The messages of a link in the order in which they came and will be done. They are entries `#begin` to `#end - 1` of
   * its part of the two arrays below. Messages that will be done before one that came earlier are in `#overtaking`.
   */
  readonly #begin: Int32Array
  readonly #end: Int32Array
  readonly #start: Int32Array
  readonly #frame: Int32Array
  readonly #done: Float64Array
  readonly #overtaking: (EventQueue | undefined)[]
  /** The number of links that have not passed all of a frame. */
  readonly #left: Int32Array

  /** @param events number of link 0's events */
  constructor(paths: FramePaths, bytes: Float64Array, queue: EventQueue, events: number) {
    const { link, start, length, network } = paths
    const links = network.latencyNs.length
    this.#paths = paths
    this.#bytes = bytes
    this.#queue = queue
    this.#events = events
    this.#count = new Int32Array(links)
    this.#clock = new Float64Array(links)
    this.#at = new Float64Array(links)
    this.#due = new Float64Array(links).fill(Number.POSITIVE_INFINITY)
    this.#isLater = new Uint8Array(links)
    this.#start = new Int32Array(links + 1)
    for (let frame = 0; frame < length.length; frame++)
      for (let i = start[frame]; i < start[frame] + length[frame]; i++) this.#start[link[i] + 1]++
    for (let on = 0; on < links; on++) this.#start[on + 1] += this.#start[on]
    this.#begin = this.#start.slice(0, links)
    this.#end = this.#begin.slice()
    this.#frame = new Int32Array(this.#start[links])
    this.#done = new Float64Array(this.#start[links])
    this.#overtaking = new Array(links)
    this.#left = length.slice()
  }

  /** Brings a message of at least one byte to all links of its route. */
  enter(frame: number, now: number): void {
    const { link, start, length, network } = this.#paths
    const bytes = this.#bytes[frame]
    for (let i = start[frame]; i < start[frame] + length[frame]; i++)
      this.#add(link[i], frame, bytes * network.nsPerByte[link[i]], now)
  }

  /**
   * Handles the event of a link: returns a message that is through, or -1. The caller repeats the call until it returns
   * -1, because several may be through.
   */
  through(link: number, now: number): number {
    if (this.#due[link] !== now) return -1
    for (;;) {
      const frame = this.#takeDone(link, now)
      if (frame === -1) return -1
      if (--this.#left[frame] === 0) return frame
    }
  }

  #add(link: number, frame: number, serviceNs: number, now: number): void {
    const before = this.#count[link]++
    if (before === 0) this.#clock[link] = 0
    else this.#clock[link] += (now - this.#at[link]) / before
    this.#at[link] = now
    const done = this.#clock[link] + serviceNs
    const end = this.#end[link]
    const isFirst = end === this.#begin[link]
    const overtakes = !isFirst && this.#done[end - 1] > done
    if (!overtakes) {
      this.#done[end] = done
      this.#frame[end] = frame
      this.#end[link] = end + 1
    } else {
      this.#overtaking[link] ??= new EventQueue(16)
      this.#overtaking[link].push(done, frame)
    }
    this.#isLater[link] = 1
    // All other messages are delayed; only this one may be done before the next event.
    if (isFirst || overtakes) {
      const due = now + (done - this.#clock[link]) * (before + 1)
      if (due < this.#due[link]) {
        this.#schedule(link, due)
        this.#isLater[link] = 0
      }
    }
  }

  /** Takes the next message that the link is done with, or finds the link's next event and returns -1. */
  #takeDone(link: number, now: number): number {
    const count = this.#count[link]
    const begin = this.#begin[link]
    const overtaking = this.#overtaking[link]
    const first = begin < this.#end[link] ? this.#done[begin] : Number.POSITIVE_INFINITY
    const other = overtaking === undefined ? Number.POSITIVE_INFINITY : overtaking.first
    const done = Math.min(first, other)
    if (count === 0) {
      this.#due[link] = Number.POSITIVE_INFINITY
      return -1
    }
    this.#clock[link] += (now - this.#at[link]) / count
    this.#at[link] = now
    // If no message has come since, the clock shows exactly `done`, whatever the rounding.
    if (this.#isLater[link] === 0) this.#clock[link] = Math.max(this.#clock[link], done)
    this.#isLater[link] = 1
    const due = now + (done - this.#clock[link]) * count
    if (due > now) {
      this.#schedule(link, due)
      this.#isLater[link] = 0
      return -1
    }
    this.#count[link] = count - 1
    if (first <= other) {
      this.#begin[link] = begin + 1
      return this.#frame[begin]
    }
    overtaking!.next()
    return overtaking!.number
  }

  #schedule(link: number, due: number): void {
    this.#due[link] = due
    this.#queue.push(due, this.#events + link)
  }
}

/**
 * Frames that wait for a time, in lines. The times of one line mostly ascend, so only the first frame of each is in the
 * queue of events, which stays short.
 */
class Lines {
  readonly #queue: EventQueue
  readonly #lineEvents: number
  /** The first and the last frame of every line; -1 for an empty one. */
  readonly #first: Int32Array
  readonly #last: Int32Array
  /** The frame behind this one; -1 for the last. */
  readonly #next: Int32Array
  readonly #time: Float64Array

  /** @param lineEvents number of line 0's events */
  constructor(queue: EventQueue, lines: number, frames: number, lineEvents: number) {
    this.#queue = queue
    this.#lineEvents = lineEvents
    this.#first = new Int32Array(lines).fill(-1)
    this.#last = new Int32Array(lines).fill(-1)
    this.#next = new Int32Array(frames)
    this.#time = new Float64Array(frames)
  }

  /**
   * Adds a frame that may leave at `time`.
   *
   * @param ownEvent the number of the event of a frame that is not to wait as long as the last of its line
   */
  add(line: number, frame: number, time: number, ownEvent: number): void {
    const last = this.#last[line]
    if (last !== -1 && this.#time[last] > time) {
      this.#queue.push(time, ownEvent)
      return
    }
    this.#time[frame] = time
    this.#next[frame] = -1
    this.#last[line] = frame
    if (last !== -1) this.#next[last] = frame
    else {
      this.#first[line] = frame
      this.#queue.push(time, this.#lineEvents + line)
    }
  }

  /** Removes the first frame of a line, whose time has come. */
  take(line: number): number {
    const frame = this.#first[line]
    const next = this.#next[frame]
    this.#first[line] = next
    if (next === -1) this.#last[line] = -1
    else this.#queue.push(this.#time[next], this.#lineEvents + line)
    return frame
  }
}

/**
 * The ports of nodes. A frame on its way out of its node occupies a port from when it would come to the links until its
 * last byte is through. Frames that find no free port wait in a line of their node, and the first of it follows.
 * Memory: 4 bytes per frame, and 12 per node.
 */
export class NodePorts {
  readonly #from: Int32Array
  readonly #node: Int32Array
  /** The number of free ports of every node. */
  readonly #free: Int32Array
  /** The first and the last frame of the line of every node; -1 for an empty one. */
  readonly #first: Int32Array
  readonly #last: Int32Array
  /** The frame behind this one; -1 for the last. */
  readonly #next: Int32Array

  /**
   * @param node of every process
   * @param ports of each of `nodes` nodes
   */
  constructor({ from }: Pick<FrameTable, 'from'>, node: Int32Array, nodes: number, ports: number) {
    this.#from = from
    this.#node = node
    this.#free = new Int32Array(nodes).fill(ports)
    this.#first = new Int32Array(nodes).fill(-1)
    this.#last = new Int32Array(nodes).fill(-1)
    this.#next = new Int32Array(from.length).fill(-1)
  }

  /** Takes a port for a frame and returns true, or lets the frame wait and returns false. */
  take(frame: number): boolean {
    const node = this.#node[this.#from[frame]]
    if (this.#free[node] > 0) {
      this.#free[node]--
      return true
    }
    const last = this.#last[node]
    if (last === -1) this.#first[node] = frame
    else this.#next[last] = frame
    this.#last[node] = frame
    return false
  }

  /** Releases the port of a frame that is through. Returns the frame that has the port now, or -1. */
  release(frame: number): number {
    const node = this.#node[this.#from[frame]]
    const next = this.#first[node]
    if (next === -1) {
      this.#free[node]++
      return -1
    }
    this.#first[node] = this.#next[next]
    if (this.#first[node] === -1) this.#last[node] = -1
    return next
  }
}

/** The links that frames pass when they leave their node. */
export class FramePaths {
  readonly network: Network
  /** The links `link[start]` to `link[start + length - 1]` in order, `start` and `length` by frame. */
  readonly link: Int32Array
  readonly start: Int32Array
  /** The number of links of a frame; 0 if it stays on its node. */
  readonly length: Int32Array
  readonly #costs: Costs

  constructor(network: Network, { from, to }: FrameTable, costs: Costs, { node }: ProcessPlaces) {
    this.network = network
    this.#costs = costs
    this.start = new Int32Array(from.length)
    this.length = new Int32Array(from.length)
    /** An earlier frame between the same nodes, by these. */
    const known = new Map<number, number>()
    const into = new Int32Array(network.longestRoute)
    let link = new Int32Array(1024)
    let used = 0
    for (let frame = 0; frame < from.length; frame++) {
      if (costs.level[frame] !== networkLevel) continue
      const [fromNode, toNode] = [node[from[frame]], node[to[frame]]]
      const pair = fromNode * network.nodes + toNode
      const same = known.get(pair)
      if (same !== undefined) {
        this.start[frame] = this.start[same]
        this.length[frame] = this.length[same]
        continue
      }
      known.set(pair, frame)
      const links = network.route(fromNode, toNode, into)
      if (used + links > link.length) {
        const longer = new Int32Array(2 * (used + links))
        longer.set(link)
        link = longer
      }
      for (let i = 0; i < links; i++) link[used + i] = into[i]
      this.start[frame] = used
      this.length[frame] = links
      used += links
    }
    this.link = link
  }

  /** Returns the time from the departure of the first byte to its arrival, without contention. */
  latencyNs(frame: number): number {
    const { level, messages } = this.#costs
    if (this.length[frame] === 0) return messages[level[frame]].latencyNs
    let sum = 0
    for (let i = this.start[frame]; i < this.start[frame] + this.length[frame]; i++)
      sum += this.network.latencyNs[this.link[i]]
    return sum
  }

  /** Returns the time from the departure of the first byte to the arrival of the last, without contention. */
  unloadedNs(frame: number): number {
    const { level, messages, wireBytes } = this.#costs
    let nsPerByte = 0
    if (this.length[frame] === 0) nsPerByte = messages[level[frame]].nsPerByte
    for (let i = this.start[frame]; i < this.start[frame] + this.length[frame]; i++)
      nsPerByte = Math.max(nsPerByte, this.network.nsPerByte[this.link[i]])
    return this.latencyNs(frame) + wireBytes[frame] * nsPerByte
  }
}
