import { bytesOf, wordsOf } from '../base/bytes.js'
import { realClock } from '../base/clock.js'
import { concatenate } from '../base/packing.js'
import { isLoading } from '../base/turn.js'
import { calledBy, mismatched } from '../calls/matching/call-report.js'
import type { Lane } from '../calls/matching/lane.js'
import { describeWords, encodeSignature, sameWords } from '../calls/signature.js'
import type { CommRuntime, CommState } from '../comm/comm-state.js'
import { RankweaveError } from '../errors.js'
import type { FabricSession } from '../fabric/fabric.js'
import { Task } from '../fabric/own-handles.js'
import { hintLine } from '../messages/process/call-sites.js'
import { frameKind, headerWord, signatureWords } from '../messages/process/frames.js'
import { completionsHeld } from '../messages/process/progress.js'
import { reportWaits, tally } from './diagnosis.js'
import type { EventLoopWatch, LoopActivity } from './event-loop.js'

/**
 * The delays between the checks that must all find the world stuck. They grow because Node does not name all work in
 * progress.
 */
const confirmDelaysMs = [1, 2, 4, 8, 16]
/**
 * The longest delay of the first check after an unsuccessful one; each delay doubles the one before. Short timers cost
 * more than their checks: the kernel sets its clock whenever a process waits for the network. That doubles the time of
 * a ping-pong on a virtual machine.
 */
const longestFirstDelayMs = 25
/** The delay while every rank sleeps but a timer, a socket, a signal or another world may wake one. */
const recheckMs = 25
/**
 * The number of checks in a row (3 s) that decide when only doubt remains: see `EventLoopWatch`, `StuckAgreement`,
 * other worlds.
 */
const checksInDoubt = 120

/** The worlds that run in this thread. A world may wake another if the user's code connects them. */
const watched = new Set<DeadlockWatch>()

/**
 * Detects that a world can never continue (decision 10). Every rank is blocked or has finished, no frame is in flight,
 * and no wait carries a signal. Only the library's own handles keep the event loop alive. If ranks wait in calls of
 * collectives that differ, it reports those.
 *
 * It costs nearly nothing while ranks run. A check is scheduled when the last rank falls asleep, at most one at a time;
 * its timer does not keep the event loop alive. A process that exchanges messages sleeps most of the time. A check is
 * therefore unsuccessful, too, if frames were sent or have arrived since it was scheduled, or if a rank has continued.
 *
 * If this session does not host the whole world, the session of the lowest living process queries the others once it is
 * stuck itself.
 */
export class DeadlockWatch {
  readonly #session: FabricSession
  readonly #runtimes: () => readonly CommRuntime[]
  readonly #eventLoop: EventLoopWatch
  readonly #onDeadlock: ((error: RankweaveError) => void) | undefined
  readonly #agreement: StuckAgreement | undefined
  /** Cancels the scheduled check; undefined when none is scheduled. */
  #cancelCheck: (() => void) | undefined
  #firstDelayMs = confirmDelaysMs[0]
  /** The value of {@link #changes} when the check was scheduled. */
  #changesBefore = 0
  #confirmed = 0
  #doubted = 0
  /** The value of {@link #changes} when doubt was counted last. */
  #changesInDoubt = 0
  /** Set until doubt may be counted again. */
  #cancelDoubt: (() => void) | undefined
  #stopped = false

  /**
   * @param runtimes the hosted processes that are still alive
   * @param onDeadlock undefined: reports only on demand
   */
  constructor(
    session: FabricSession,
    runtimes: () => readonly CommRuntime[],
    eventLoop: EventLoopWatch,
    onDeadlock: ((error: RankweaveError) => void) | undefined,
  ) {
    this.#session = session
    this.#runtimes = runtimes
    this.#eventLoop = eventLoop
    this.#onDeadlock = onDeadlock
    if (session.hosted.length < session.processes) {
      this.#agreement = new StuckAgreement(runtimes(), checksInDoubt, {
        stuck: () => this.#sleep() === 'for good' && this.#nothingElseMoves(),
        decided: (evidence) => this.#decided(evidence),
      })
    }
    watched.add(this)
  }

  /** Schedules a check because no rank of a process runs any longer. It is cheap and called often. */
  arm(): void {
    if (this.#cancelCheck === undefined && !this.#stopped) this.#scheduleCheck(this.#firstDelayMs)
  }

  /** Stops awaiting the answer of a process elsewhere that is lost. */
  peerLost(peer: number): void {
    this.#agreement?.peerLost(peer)
    this.arm()
  }

  stop(): void {
    this.#stopped = true
    this.#cancelCheck?.()
    this.#cancelCheck = undefined
    this.#cancelDoubt?.()
    this.#agreement?.stop()
    watched.delete(this)
  }

  report(): string {
    const runtimes = this.#runtimes()
    const { blocked, ended, awake } = tally(runtimes)
    return `${blocked} blocked, ${awake} running, ${ended} finished\n${reportWaits(runtimes)}`
  }

  #scheduleCheck(delayMs: number): void {
    if (this.#onDeadlock === undefined || this.#agreement?.asks === false) return
    // A rank may have fallen asleep, and armed the watch, while a wave was in progress. One timer is enough, and `stop`
    // cancels only one.
    if (this.#cancelCheck !== undefined) return
    this.#changesBefore = this.#changes()
    this.#cancelCheck = realClock.later(delayMs, () => this.#check())
  }

  #check(): void {
    this.#cancelCheck = undefined
    const asleep = this.#sleep()
    if (asleep !== 'for good' || this.#changes() !== this.#changesBefore) {
      this.#confirmed = 0
      this.#doubted = 0
      this.#firstDelayMs = Math.min(2 * this.#firstDelayMs, longestFirstDelayMs)
      if (asleep !== 'no') this.#scheduleCheck(asleep === 'signal' ? recheckMs : this.#firstDelayMs)
      return
    }
    this.#firstDelayMs = confirmDelaysMs[0]
    if (!this.#nothingElseMoves()) {
      this.#confirmed = 0
      this.#scheduleCheck(recheckMs)
      return
    }
    const delayMs = confirmDelaysMs[++this.#confirmed]
    if (delayMs !== undefined) this.#scheduleCheck(delayMs)
    else if (this.#agreement === undefined)
      this.#report({
        waits: reportWaits(this.#runtimes()),
        ...this.#tally(),
        calls: callsOf(this.#runtimes()),
      })
    else this.#agreement.ask()
  }

  #decided(evidence: Evidence | undefined): void {
    if (this.#stopped) return
    if (evidence === undefined) this.#scheduleCheck(recheckMs)
    else this.#report(evidence)
  }

  #report({ waits, blocked, ended, calls }: Evidence): void {
    const mismatch = mismatchAmong(calls)
    const report = `${waits}${hintLine(this.#runtimes()[0]?.callSites)}`
    const what = `deadlock: ${blocked} ${blocked === 1 ? 'rank is' : 'ranks are'} blocked and nothing can wake ${blocked === 1 ? 'it' : 'them'}`
    this.#onDeadlock?.(
      mismatch === undefined
        ? new RankweaveError('ERR_DEADLOCK', `${what}\n${report}`, { details: { blocked, ended } })
        : new RankweaveError(mismatch.code, `${mismatch.message}\n${report}`, {
            details: { ...mismatch.details, blocked, ended },
          }),
    )
  }

  #tally() {
    return tally(this.#runtimes())
  }

  /** Returns a count of all events in the processes here, frames sent and received included, modulo 2^32. */
  #changes(): number {
    let changes = 0
    for (const { processCounters, waits } of this.#runtimes())
      changes = (changes + processCounters.framesSent + processCounters.framesReceived + waits.changes) | 0
    return changes
  }

  /**
   * Tells whether neither the event loop nor another world can wake this one: certainly, or after enough checks in
   * doubt.
   */
  #nothingElseMoves(): boolean {
    const activities = [this.#eventLoop.activity(), this.#otherWorlds()]
    const some = activities.includes('some')
    const doubt = !some && activities.includes('perhaps')
    if (!doubt) this.#doubted = 0
    return !some && (!doubt || this.#longInDoubt())
  }

  /**
   * Tells whether nothing has changed here for {@link checksInDoubt} checks that left doubt. Others may query more
   * often than that, so at most one check per delay counts.
   */
  #longInDoubt(): boolean {
    const changes = this.#changes()
    if (changes !== this.#changesInDoubt) this.#doubted = 0
    this.#changesInDoubt = changes
    if (this.#cancelDoubt === undefined) {
      this.#doubted++
      this.#cancelDoubt = realClock.later(recheckMs, () => (this.#cancelDoubt = undefined))
    }
    return this.#doubted >= checksInDoubt
  }

  /**
   * Tells whether every rank sleeps, and what in this session may wake one: frames in flight, modules being loaded, or
   * a wait's signal.
   */
  #sleep(): 'no' | 'frames' | 'signal' | 'for good' {
    let waits = 0
    let withSignal = 0
    for (const runtime of this.#runtimes()) {
      if (runtime.waits.awake > 0) return 'no'
      waits += runtime.waits.waits
      withSignal += runtime.waits.withSignal
    }
    // Ranks elsewhere may be stuck although every rank here has finished.
    if (waits === 0 && this.#agreement === undefined) return 'no'
    // A rank may continue with one of its waits over and others pending.
    if (completionsHeld() || isLoading() || !this.#session.quiet()) return 'frames'
    return withSignal > 0 ? 'signal' : 'for good'
  }

  /**
   * Returns what other worlds of this thread may do. A rank that is awake while the event loop has nothing to do waits
   * for something else, perhaps for this world.
   */
  #otherWorlds(): LoopActivity {
    let activity: LoopActivity = 'none'
    for (const other of watched) {
      if (other === this) continue
      const asleep = other.#sleep()
      if (asleep === 'frames' || asleep === 'signal') return 'some'
      if (asleep === 'no') activity = 'perhaps'
    }
    return activity
  }
}

/** Reports which ranks wait for what in every world of this thread at present, to diagnose a hang. */
export function worldReport(): string {
  if (watched.size === 0) return 'no world is running'
  return [...watched].map((world, n) => `world ${n}: ${world.report()}`).join('\n')
}

export interface Evidence {
  readonly waits: string
  readonly blocked: number
  readonly ended: number
  /** The calls of collectives, as {@link callsOf} lists them. */
  readonly calls: Int32Array
}

interface StuckHandlers {
  /** Tells whether nothing in this session can continue by itself, as far as it can know. */
  stuck(): boolean
  /** Receives the result of a wave: the world is stuck, or (undefined) that is not certain. */
  decided(evidence: Evidence | undefined): void
}

const word = {
  step: 3,
  wave: 4,
  stuck: 5,
  sent: 6,
  received: 7,
  blocked: 8,
  ended: 9,
  callWords: 10,
} as const
const words = 11
const step = { ask: 1, answer: 2 } as const

interface Answer extends Evidence {
  readonly stuck: boolean
  readonly sent: number
  readonly received: number
}

/**
 * The sessions of a world agree that it is stuck. The lowest living process queries in waves. Each process answers
 * whether it is stuck and how many frames it has sent and received. The world is stuck when all processes are stuck in
 * two consecutive waves with the same counts, and as many frames were received as sent. Then no frame was in flight in
 * between, so nothing more can happen (Mattern, Algorithms for distributed termination detection, 1987: the four
 * counter method).
 *
 * A process examines itself in its own task, never while a frame is being delivered. The effects of earlier frames
 * (ranks that continue in microtasks) would not show yet, however long the thread was descheduled in between.
 *
 * What is published in shared memory is never in flight. Its watcher polls it when a frame of a wave has arrived
 * (`Fabric.watch`), so after the wave began. It counts as sent and as received where it is written, so the counts
 * change with it.
 *
 * Frames sent to a lost process are never received; then unchanged counts over many waves have to suffice.
 */
export class StuckAgreement {
  readonly #hosted: readonly CommRuntime[]
  readonly #handlers: StuckHandlers
  readonly #wavesInDoubt: number
  readonly #elsewhere = new Set<number>()
  /** The lowest process hosted here. */
  readonly #first: number
  readonly #answers = new Map<number, Answer>()
  #wave = 0
  #open = false
  #isStopped = false
  #before = ''
  #stoodStill = 0
  /** The queries to answer, and whether the last answer has arrived. Both wait for the task. */
  #queries: { readonly runtime: CommRuntime; readonly asker: number; wave: number }[] = []
  #complete = false
  readonly #task = new Task(() => this.#runTask())

  constructor(hosted: readonly CommRuntime[], wavesInDoubt: number, handlers: StuckHandlers) {
    this.#hosted = hosted
    this.#handlers = handlers
    this.#wavesInDoubt = wavesInDoubt
    const here = new Set(hosted.map((runtime) => runtime.process))
    this.#first = hosted[0].process
    for (let p = 0; p < hosted[0].layout.processes; p++) if (!here.has(p)) this.#elsewhere.add(p)
    for (const runtime of hosted) {
      runtime.onService(frameKind.stuck, (src, header, payload) => {
        if (header[word.step] === step.ask) this.#noteQuery(runtime, src, header[word.wave])
        else this.#note(src, header, payload)
      })
    }
  }

  /** True in the session of the lowest process that is not lost, which asks. */
  get asks(): boolean {
    for (const process of this.#elsewhere) if (process < this.#first) return false
    return true
  }

  /** Starts a wave unless one is in progress. */
  ask(): void {
    if (this.#open) return
    this.#open = true
    this.#wave++
    this.#answers.clear()
    const header = new Int32Array(words)
    header[headerWord.kind] = frameKind.stuck
    header[word.step] = step.ask
    header[word.wave] = this.#wave
    for (const peer of this.#elsewhere) this.#hosted[0].fabric.send(peer, header)
    this.#settle()
  }

  peerLost(peer: number): void {
    this.#elsewhere.delete(peer)
    this.#answers.delete(peer)
    this.#settle()
  }

  /** Answers no more queries: the session is about to close. */
  stop(): void {
    this.#isStopped = true
    this.#open = false
    this.#queries = []
    this.#task.cancel()
  }

  #noteQuery(runtime: CommRuntime, asker: number, wave: number): void {
    if (this.#isStopped) return
    // The newer query replaces the older one of the same asker, which has no use for the first answer. An answer takes
    // much longer to make than its query.
    const before = this.#queries.find((query) => query.runtime === runtime && query.asker === asker)
    if (before === undefined) this.#queries.push({ runtime, asker, wave })
    else before.wave = wave
    this.#task.schedule()
  }

  #runTask(): void {
    for (const { runtime, asker, wave } of this.#queries.splice(0)) this.#answer(runtime, asker, wave)
    if (this.#complete) this.#decide()
  }

  #answer(runtime: CommRuntime, asker: number, wave: number): void {
    const { stuck, sent, received, blocked, ended, waits, calls } = this.#own([runtime])
    const header = new Int32Array(words)
    header[headerWord.kind] = frameKind.stuck
    header[word.step] = step.answer
    header[word.wave] = wave
    header[word.stuck] = stuck ? 1 : 0
    header[word.sent] = sent
    header[word.received] = received
    header[word.blocked] = blocked
    header[word.ended] = ended
    const { maxPayloadBytes } = runtime.fabric
    const told = callsWithin(calls, maxPayloadBytes / 2)
    header[word.callWords] = told.length
    const payload = concatenate([bytesOf(told), new TextEncoder().encode(waits)])
    runtime.fabric.send(asker, header, payload.subarray(0, maxPayloadBytes))
  }

  #note(src: number, header: Int32Array, payload: Uint8Array): void {
    if (!this.#open || header[word.wave] !== this.#wave || !this.#elsewhere.has(src)) return
    const callBytes = header[word.callWords] * Int32Array.BYTES_PER_ELEMENT
    this.#answers.set(src, {
      stuck: header[word.stuck] === 1,
      sent: header[word.sent],
      received: header[word.received],
      blocked: header[word.blocked],
      ended: header[word.ended],
      waits: new TextDecoder().decode(payload.subarray(callBytes)),
      calls: wordsOf(payload.slice(0, callBytes)),
    })
    this.#settle()
  }

  /** Decides, in the task, once every process has answered. */
  #settle(): void {
    this.#complete = this.#open && this.#answers.size >= this.#elsewhere.size
    if (this.#complete) this.#task.schedule()
  }

  #decide(): void {
    this.#complete = false
    this.#open = false
    const answers = [this.#own(this.#hosted), ...this.#answers.values()]
    const now = answers.map(({ sent, received }) => `${sent} ${received}`).join()
    const stuck = answers.every((answer) => answer.stuck)
    this.#stoodStill = stuck && now === this.#before ? this.#stoodStill + 1 : 0
    this.#before = stuck ? now : ''
    const sum = (of: (answer: Answer) => number) => answers.reduce((total, answer) => total + of(answer), 0)
    const balanced = ((sum(({ sent }) => sent) - sum(({ received }) => received)) | 0) === 0
    const sure = this.#stoodStill >= (balanced ? 1 : this.#wavesInDoubt)
    // No blocked rank is left if every rank has finished: the world is about to be closed.
    const blocked = sum((answer) => answer.blocked)
    this.#handlers.decided(
      sure && blocked > 0
        ? {
            waits: answers
              .map(({ waits }) => waits)
              .filter(Boolean)
              .join('\n'),
            blocked,
            ended: sum((answer) => answer.ended),
            calls: Int32Array.from(answers.flatMap(({ calls }) => [...calls])),
          }
        : undefined,
    )
  }

  #own(runtimes: readonly CommRuntime[]): Answer {
    let sent = 0
    let received = 0
    for (const { processCounters } of runtimes) {
      const { framesSent, framesReceived, publications } = processCounters
      sent = (sent + framesSent + publications) | 0
      received = (received + framesReceived + publications) | 0
    }
    const { blocked, ended } = tally(runtimes)
    const waits = reportWaits(runtimes)
    return { stuck: this.#handlers.stuck(), sent, received, blocked, ended, waits, calls: callsOf(runtimes) }
  }
}

// A process lists the calls of collectives that it waits in as words that other processes compare with theirs. Ranks
// may wait for each other in calls that differ, and no message of one call reaches a rank of the other.

/**
 * The communicator, its size, the lane, the number of the call, a rank that made it, its number in the world, and the
 * call's signature.
 */
const callWord = {
  leader: 0,
  counter: 1,
  size: 2,
  lane: 3,
  seq: 4,
  rank: 5,
  worldRank: 6,
  signature: 7,
} as const
const wordsOfCall = callWord.signature + signatureWords

/** The most calls that a process lists, from the communicators that were made first. */
const mostCalls = 64

/** Returns as many whole calls as fit into `mostBytes`. */
function callsWithin(calls: Int32Array, mostBytes: number): Int32Array {
  const most = Math.floor(mostBytes / Int32Array.BYTES_PER_ELEMENT / wordsOfCall)
  return calls.subarray(0, most * wordsOfCall)
}

/** Returns the calls in progress in these processes, on communicators that span several. */
function callsOf(runtimes: readonly CommRuntime[]): Int32Array {
  const words: number[] = []
  for (const runtime of runtimes) {
    const end = words.length + mostCalls * wordsOfCall
    for (const state of runtime.contexts) {
      if (state.processes.count > 1 && state.failed === undefined && words.length < end) {
        for (const lane of state.collectives.lanes) addCalls(words, state, lane)
      }
    }
    words.length = Math.min(words.length, end)
  }
  return Int32Array.from(words)
}

function addCalls(words: number[], state: CommState, lane: Lane): void {
  const { id, size, localRanks } = state
  for (const { seq, call, firstCaller } of lane.slots.values()) {
    if (call === undefined) continue
    const signature = new Int32Array(signatureWords)
    encodeSignature(call.signature, signature, 0)
    words.push(id.leader, id.counter, size, lane.id, seq | 0)
    words.push(localRanks[firstCaller], state.worldRank(firstCaller))
    for (const part of signature) words.push(part)
  }
}

/** Returns the ERR_COLLECTIVE_MISMATCH of two calls under one number that differ; undefined if there are none. */
function mismatchAmong(calls: Int32Array): RankweaveError | undefined {
  const first = new Map<string, number>()
  for (let at = 0; at + wordsOfCall <= calls.length; at += wordsOfCall) {
    const key = calls.subarray(at, at + callWord.rank).join()
    const other = first.get(key)
    if (other === undefined) first.set(key, at)
    else if (!sameWords(calls, other + callWord.signature, calls, at + callWord.signature)) {
      const [one, two] = calls[other + callWord.rank] < calls[at + callWord.rank] ? [other, at] : [at, other]
      return mismatch(calls, one, two)
    }
  }
  return undefined
}

function mismatch(calls: Int32Array, one: number, other: number): RankweaveError {
  const [leader, counter, size, id, seq] = calls.subarray(one, one + callWord.rank)
  const called = (at: number) =>
    calledBy(
      calls[at + callWord.rank],
      calls[at + callWord.worldRank],
      describeWords(calls, at + callWord.signature),
    )
  const state = { id: { leader: leader, counter: counter }, size: size }
  return mismatched(state, { id: id }, seq >>> 0, called(one), called(other))
}
