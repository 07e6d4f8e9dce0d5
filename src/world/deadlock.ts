import { realClock } from '../base/clock.js'
import { isLoading } from '../base/loading.js'
import type { CommRuntime } from '../comm/comm-state.js'
import { RankweaveError } from '../errors.js'
import type { FabricSession } from '../fabric/fabric.js'
import { hintLine } from '../messages/process/call-sites.js'
import { completionsHeld } from '../messages/process/progress.js'
import type { EventLoopWatch, LoopActivity } from './event-loop.js'
import { callsOf, mismatchAmong } from './open-calls.js'
import { type Evidence, StuckAgreement } from './stuck-agreement.js'
import { reportWaits, tally } from './world-report.js'

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
    const what = `deadlock: ${blocked} ${blocked === 1 ? 'rank is' : 'ranks are'} blocked and nothing can wake them`
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
