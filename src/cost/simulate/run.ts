import { concatenateWords } from '../../base/packing.js'
import type { Dependencies, Gates, ProcessProgram } from '../../schedule/lower/program.js'
import { emptyLog, type JobLog, receiveNs } from './activities.js'
import { failSimulation } from './block-lengths.js'
import { EventQueue } from './event-queue.js'
import type { FrameTable } from './frame-table.js'
import type { QueueSearches } from './queue-searches.js'
import { Transport, type TransportSetting } from './transport.js'

/**
 * The rule by which a frame leaves. `dependencies`: as soon as its data are there, as the executor runs programs.
 * `phases`: a process starts the frames of a round when it has sent and received all those of its rounds before.
 */
export type FrameStart = 'dependencies' | 'phases'

interface RunSetting extends TransportSetting {
  readonly eagerLimitBytes: number
  readonly progress: FrameStart
  /** The matching queues; null if searches take no time. */
  readonly searches: QueueSearches | null
}

/** The dependencies of all programs side by side: objects of each would be fetched from memory with every event. */
export interface WaitingTasks {
  /** The tasks of process p: `taskStart[p]` up to the next. Length: processes + 1. */
  readonly taskStart: Int32Array
  /** The number of bringers that a task waits for. */
  readonly needs: Int32Array
  /** The bringers of process p: `bringerStart[p]` up to the next. Length: processes + 1. */
  readonly bringerStart: Int32Array
  /** The tasks that wait for a bringer, numbered in their process: `use[useStart[b]]` up to the next. */
  readonly useStart: Int32Array
  readonly use: Int32Array
  /** The gates of every process; null if there are none. */
  readonly gates: readonly Gates[] | null
}

export function waitingTasks(programs: readonly ProcessProgram[]): WaitingTasks {
  const startsOf = (lengthOf: (dependencies: Dependencies) => number): Int32Array => {
    const starts = new Int32Array(programs.length + 1)
    for (const [p, { dependencies }] of programs.entries()) starts[p + 1] = starts[p] + lengthOf(dependencies)
    return starts
  }
  const bringerStart = startsOf(({ useStart }) => useStart.length - 1)
  const firstUse = startsOf(({ use }) => use.length)
  const useStart = new Int32Array(bringerStart[programs.length] + 1)
  for (const [p, { dependencies }] of programs.entries())
    for (let b = 1; b < dependencies.useStart.length; b++)
      useStart[bringerStart[p] + b] = firstUse[p] + dependencies.useStart[b]
  return {
    taskStart: startsOf(({ needs }) => needs.length),
    needs: concatenateWords(programs.map(({ dependencies }) => dependencies.needs)),
    bringerStart,
    useStart,
    use: concatenateWords(programs.map(({ dependencies }) => dependencies.use)),
    gates: programs.some(({ gates }) => gates.sends.length > 0) ? programs.map(({ gates }) => gates) : null,
  }
}

/**
 * A run of all programs on a machine. Events are: a processor has done its job, a message comes to a link's end, has
 * arrived, or may enter the network.
 *
 * A processor that is free takes, in this order: sends, combinations, posts and gates that are ready, oldest first;
 * arrived frames, oldest first; sent frames, oldest first.
 *
 * A short frame is complete at its sender when that has done with it, a long one when it is delivered. The processor
 * opens gates, and posts receives behind them, in no time, but not while it does something else.
 */
export class SimulatedRun {
  readonly log: JobLog
  readonly #frames: FrameTable
  readonly #waiting: WaitingTasks
  readonly #setting: RunSetting
  readonly #isPhased: boolean
  readonly #queue: EventQueue
  readonly #transport: Transport
  readonly #running: Int32Array
  /** The tasks of process p are at `#taskStart[p]` up to the next, its combinations at `#combineStart[p]`. */
  readonly #taskStart: Int32Array
  readonly #combineStart: Int32Array
  /** The number of sends and combinations of each process, which are its first tasks. */
  readonly #firstGate: Int32Array
  /** Whether gates count. They do not in phases, which wait for more. */
  readonly #hasGates: boolean
  readonly #missing: Int32Array
  readonly #ready: Int32Array
  readonly #readyEnd: Int32Array
  readonly #readyBegun: Int32Array
  /** The frames that have arrived, by process in order of arrival. */
  readonly #arrived: Int32Array
  readonly #arrivedEnd: Int32Array
  readonly #arrivedBegun: Int32Array
  /** The frames that are complete at their sender, by process in this order. Length 0 without gates. */
  readonly #sent: Int32Array
  readonly #sentEnd: Int32Array
  readonly #sentBegun: Int32Array
  #left: number

  /** By position, 1 until the receive is posted behind a gate. Length 0 without gates, and in phases. */
  readonly #unposted: Uint8Array

  // The following fields serve `phases` only.
  /** The next frame to send, and position to receive, of every process. */
  readonly #sendNext: Int32Array
  readonly #receiveNext: Int32Array
  readonly #round: Int32Array
  /** The number of frames of the round that have not been received, and of long frames that have not been delivered. */
  readonly #outstanding: Int32Array
  /**
   * By position of a receive that is not posted, 1 when its frame has arrived, 2 when a long frame has been announced.
   * Runs with gates use it, too.
   */
  readonly #early: Uint8Array

  constructor(frames: FrameTable, waiting: WaitingTasks, setting: RunSetting) {
    const { processes, sendStart, receiveStart, from } = frames
    const { paths, costs, progress } = setting
    const count = from.length
    this.#frames = frames
    this.#waiting = waiting
    this.#setting = setting
    this.#isPhased = progress === 'phases'
    this.log = emptyLog(frames, costs.combineNs.length)
    this.#queue = new EventQueue(3 * processes + paths.network.latencyNs.length)
    this.#transport = new Transport(frames, setting, this.#queue, this)
    this.#running = new Int32Array(processes).fill(-1)
    this.#taskStart = waiting.taskStart
    this.#combineStart = new Int32Array(processes + 1)
    this.#firstGate = new Int32Array(processes)
    for (let p = 0; p < processes; p++) {
      const gates = waiting.gates?.[p].sends.length ?? 0
      const posts = gates === 0 ? 0 : receiveStart[p + 1] - receiveStart[p]
      this.#firstGate[p] = this.#taskStart[p + 1] - this.#taskStart[p] - gates - posts
      const combinations = this.#firstGate[p] - (sendStart[p + 1] - sendStart[p])
      this.#combineStart[p + 1] = this.#combineStart[p] + combinations
    }
    const tasks = this.#taskStart[processes]
    this.#missing = waiting.needs.slice()
    this.#ready = new Int32Array(tasks)
    this.#readyEnd = this.#taskStart.slice(0, processes)
    this.#readyBegun = this.#readyEnd.slice()
    this.#arrived = new Int32Array(count)
    this.#arrivedEnd = receiveStart.slice(0, processes)
    this.#arrivedBegun = this.#arrivedEnd.slice()
    this.#left = 2 * count + this.#combineStart[processes]
    this.#sendNext = sendStart.slice(0, processes)
    this.#receiveNext = receiveStart.slice(0, processes)
    this.#round = new Int32Array(processes).fill(-1)
    this.#outstanding = new Int32Array(processes)
    this.#hasGates = !this.#isPhased && waiting.gates !== null
    this.#early = new Uint8Array(this.#isPhased || this.#hasGates ? count : 0)
    this.#unposted = new Uint8Array(this.#hasGates ? count : 0)
    this.#sent = new Int32Array(this.#hasGates ? count : 0)
    this.#sentEnd = sendStart.slice(0, processes)
    this.#sentBegun = this.#sentEnd.slice()
    if (this.#hasGates) this.#holdReceives()
    if (!this.#isPhased) this.#postReceives()
  }

  /**
   * Runs to the end.
   *
   * @param limitNs the run ends with null if it takes longer
   * @throws ERR_SIMULATION when processes wait for each other
   */
  toEnd(limitNs = Number.POSITIVE_INFINITY): JobLog | null {
    const queue = this.#queue
    const { processes } = this.#frames
    for (let p = 0; p < processes; p++) {
      for (let task = 0; task < this.#firstGate[p]; task++)
        if (this.#missing[this.#taskStart[p] + task] === 0) this.#enqueue(p, task)
    }
    for (let p = 0; p < processes; p++) this.#next(p, 0, -1)
    while (queue.length > 0) {
      const now = queue.next()
      if (now > limitNs) return null
      const event = queue.number
      if (event < processes) this.#done(event, now)
      else if (event < this.#transport.events) this.#transport.event(event, now)
      else this.#setting.searches?.arrive(event - this.#transport.events)
    }
    if (this.#left > 0)
      failSimulation(
        `expected a schedule that ends, got one in which ${this.#left} operations wait without end`,
      )
    for (let p = 0; p < processes; p++) this.#copy(p)
    return this.log
  }

  #holdReceives(): void {
    const { receiveStart } = this.#frames
    for (const [p, gates] of this.#waiting.gates!.entries())
      for (const [i, gate] of gates.ofReceive.entries())
        if (gate >= 0) this.#unposted[receiveStart[p] + i] = 1
  }

  /** Posts the receives behind no gate, before anything is sent. */
  #postReceives(): void {
    const { searches } = this.#setting
    if (searches === null) return
    const { frameAt } = this.#frames
    for (let at = 0; at < frameAt.length; at++)
      if (!this.#hasGates || this.#unposted[at] === 0) searches.post(frameAt[at])
  }

  /** Takes a task that waits for nothing more. In phases, sends leave in their order when their round has come. */
  #enqueue(process: number, task: number): void {
    const { sendStart } = this.#frames
    if (this.#isPhased && task < sendStart[process + 1] - sendStart[process]) return
    this.#ready[this.#readyEnd[process]++] = task
  }

  /**
   * Gives a free processor its next job.
   *
   * @param wokenBy the frame that ended its idle time, -1 if it was busy until now
   */
  #next(process: number, now: number, wokenBy: number): void {
    const { sendStart, round, receiveOf } = this.#frames
    for (;;) {
      if (this.#readyBegun[process] < this.#readyEnd[process]) {
        const task = this.#ready[this.#readyBegun[process]++]
        const gate = task - this.#firstGate[process]
        if (gate < 0) {
          this.#begin(process, task, now, wokenBy)
          return
        }
        this.#open(process, gate, now, wokenBy)
        continue
      }
      if (this.#isPhased) {
        const frame = this.#sendNext[process]
        if (frame < sendStart[process + 1] && round[frame] === this.#round[process]) {
          this.#sendNext[process]++
          this.#begin(process, frame - sendStart[process], now, wokenBy)
          return
        }
      }
      if (this.#arrivedBegun[process] < this.#arrivedEnd[process]) {
        const frame = this.#arrived[this.#arrivedBegun[process]++]
        const { costs, searches } = this.#setting
        const job = this.log.receives + receiveOf[frame]
        this.#run(process, job, now, receiveNs(costs, searches, frame) + costs.unpackNs[frame], wokenBy)
        return
      }
      if (this.#sentBegun[process] < this.#sentEnd[process]) {
        this.#settleSent(process, this.#sent[this.#sentBegun[process]++])
        continue
      }
      if (!this.#isPhased || this.#outstanding[process] > 0 || !this.#enterRound(process, now, wokenBy))
        return
    }
  }

  #begin(process: number, task: number, now: number, wokenBy: number): void {
    const { costs } = this.#setting
    const { sendStart } = this.#frames
    const sends = sendStart[process + 1] - sendStart[process]
    if (task < sends) {
      const frame = sendStart[process] + task
      const durationNs = costs.packNs[frame] + costs.messages[costs.level[frame]].sendOverheadNs
      this.#run(process, frame, now, durationNs, wokenBy)
    } else {
      const combination = this.#combineStart[process] + task - sends
      const job = this.log.combinations + combination
      this.#run(process, job, now, costs.combineNs[combination], wokenBy)
    }
  }

  #run(process: number, job: number, now: number, durationNs: number, wokenBy: number): void {
    const { startNs, endNs, before, last } = this.log
    startNs[job] = now
    endNs[job] = now + durationNs
    before[job] = last[process]
    this.log.wokenBy[job] = wokenBy
    last[process] = job
    this.#running[process] = job
    this.#queue.push(now + durationNs, process)
  }

  #done(process: number, now: number): void {
    const job = this.#running[process]
    const { receives, combinations } = this.log
    this.#running[process] = -1
    this.#left--
    if (job < receives) {
      this.#leave(job, now)
      if (this.#hasGates && this.#frames.bytes[job] <= this.#setting.eagerLimitBytes) this.#complete(job)
    } else {
      const { receiveStart } = this.#frames
      const positions = receiveStart[process + 1] - receiveStart[process]
      if (job < combinations) {
        if (this.#isPhased) this.#outstanding[process]--
        this.#settle(process, job - receives - receiveStart[process])
      } else {
        const combination = job - combinations - this.#combineStart[process]
        this.#settle(process, positions + combination)
      }
    }
    this.#next(process, now, -1)
  }

  #settle(process: number, bringer: number): void {
    const { bringerStart, useStart, use } = this.#waiting
    const at = bringerStart[process] + bringer
    const first = this.#taskStart[process]
    const end = this.#hasGates ? Number.POSITIVE_INFINITY : this.#firstGate[process]
    for (let u = useStart[at]; u < useStart[at + 1]; u++)
      if (--this.#missing[first + use[u]] === 0 && use[u] < end) this.#enqueue(process, use[u])
  }

  /** Opens a gate, or posts the receive behind one. @param gate a gate; beyond the gates, the receive to be posted */
  #open(process: number, gate: number, now: number, wokenBy: number): void {
    const { frameAt, receiveStart, sendStart } = this.#frames
    const count = this.#waiting.gates![process].sends.length
    const first = receiveStart[process]
    if (gate < count) {
      const combinations = this.#firstGate[process] - (sendStart[process + 1] - sendStart[process])
      this.#settle(process, receiveStart[process + 1] - first + combinations + gate)
      return
    }
    const at = first + gate - count
    this.#unposted[at] = 0
    this.#setting.searches?.post(frameAt[at])
    if (this.#early[at] === 1) this.#arrived[this.#arrivedEnd[process]++] = frameAt[at]
    else if (this.#early[at] === 2) this.#clear(process, frameAt[at], now, wokenBy)
  }

  /** Completes a frame at its sender, which notices when it has nothing else to do. */
  #complete(frame: number): void {
    const process = this.#frames.from[frame]
    this.#sent[this.#sentEnd[process]++] = frame
  }

  #settleSent(process: number, frame: number): void {
    const { sendStart } = this.#frames
    const { bringerStart, gates } = this.#waiting
    if (gates![process].sends.length === 0) return
    const sends = sendStart[process + 1] - sendStart[process]
    const firstSend = bringerStart[process + 1] - bringerStart[process] - sends
    this.#settle(process, firstSend + frame - sendStart[process])
  }

  /** Lets a frame that its sender has done with enter the network, or first asks the receiver of a long frame. */
  #leave(frame: number, now: number): void {
    const { bytes, from, receiveOf } = this.#frames
    if (bytes[frame] <= this.#setting.eagerLimitBytes) {
      this.#transport.send(frame, now)
      return
    }
    if (this.#isPhased) this.#outstanding[from[frame]]++
    const latencyNs = this.#setting.paths.latencyNs(frame)
    if (this.#setting.searches !== null) this.#queue.push(now + latencyNs, this.#transport.events + frame)
    if (this.#isPosted(frame)) {
      this.#transport.sendAt(frame, now + 2 * latencyNs)
    } else {
      this.#early[receiveOf[frame]] = 2
      this.log.arrivedNs[frame] = now + latencyNs
    }
  }

  #isPosted(frame: number): boolean {
    const { to, round, receiveOf } = this.#frames
    if (this.#isPhased) return this.#round[to[frame]] >= round[frame]
    return !this.#hasGates || this.#unposted[receiveOf[frame]] === 0
  }

  /** Takes a frame that has arrived from the transport. */
  arrived(frame: number, now: number): void {
    const { bytes, from, to, receiveOf } = this.#frames
    const process = to[frame]
    const sender = from[frame]
    const isLong = bytes[frame] > this.#setting.eagerLimitBytes
    this.log.arrivedNs[frame] = now
    this.#setting.searches?.arrive(frame)
    if (this.#isPhased) {
      if (isLong && --this.#outstanding[sender] === 0)
        if (this.#running[sender] === -1) this.#next(sender, now, frame)
    } else if (isLong && this.#hasGates) {
      this.#complete(frame)
      if (this.#running[sender] === -1) this.#next(sender, now, frame)
    }
    if (!this.#isPosted(frame)) {
      this.#early[receiveOf[frame]] = 1
      return
    }
    this.#arrived[this.#arrivedEnd[process]++] = frame
    if (this.#running[process] === -1) this.#next(process, now, frame)
  }

  /** Enters the next round of a process. Returns false if it has none. */
  #enterRound(process: number, now: number, wokenBy: number): boolean {
    const { frameAt, receiveStart, round, sendStart } = this.#frames
    const frame = this.#sendNext[process]
    let at = this.#receiveNext[process]
    const end = receiveStart[process + 1]
    const hasSend = frame < sendStart[process + 1]
    if (!hasSend && at === end) return false
    const toSend = hasSend ? round[frame] : round[frameAt[at]]
    const current = at < end ? Math.min(toSend, round[frameAt[at]]) : toSend
    this.#round[process] = current
    for (; at < end && round[frameAt[at]] === current; at++) {
      this.#outstanding[process]++
      const early = frameAt[at]
      this.#setting.searches?.post(early)
      if (this.#early[at] === 1) this.#arrived[this.#arrivedEnd[process]++] = early
      else if (this.#early[at] === 2) this.#clear(process, early, now, wokenBy)
    }
    this.#receiveNext[process] = at
    return true
  }

  /** Clears a long frame that has been announced when its receiver is ready for it. */
  #clear(process: number, frame: number, now: number, wokenBy: number): void {
    const announced = this.log.arrivedNs[frame]
    if (announced < now) this.log.awaited[frame] = wokenBy === -1 ? this.log.last[process] : -2 - wokenBy
    this.#transport.sendAt(frame, Math.max(now, announced) + this.#setting.paths.latencyNs(frame))
  }

  #copy(process: number): void {
    const durationNs = this.#setting.costs.copyNs[process]
    if (durationNs === 0) return
    const { endNs, last, startNs, before, copies } = this.log
    const job = copies + process
    before[job] = last[process]
    startNs[job] = last[process] === -1 ? 0 : endNs[last[process]]
    endNs[job] = startNs[job] + durationNs
    last[process] = job
  }
}
