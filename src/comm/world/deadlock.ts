import { clearTimeout as cancel, setTimeout as later } from 'node:timers'
import { RankweaveError } from '../../errors.js'
import type { FabricSession } from '../../fabric/fabric.js'
import type { CommRuntime } from '../context/comm-state.js'
import { completionsHeld } from '../process/completion-budget.js'
import type { Activity, EventLoopWatch } from './event-loop.js'
import { type Evidence, StuckAgreement } from './stuck-agreement.js'
import { reportWaits, tally } from './world-report.js'

/** Delays between the checks that must all find the world stuck. They grow, for work that Node does not name. */
const confirmDelaysMs = [1, 2, 4, 8, 16]
/** Delay while the world is asleep but a timer, a socket, a signal or another world may wake it up. */
const spinMs = 25
/** So many looks in a row (3 s) decide when only doubt is left: see `EventLoopWatch`, `StuckAgreement`, other worlds. */
const pollsInDoubt = 120

/** The worlds now running in this thread. One of them may wake another, if the user's code connects them. */
const watched = new Set<DeadlockWatch>()

/**
 * Notices that a world can never go on (decision 10): every rank is blocked or has ended, no frame is under way, no
 * wait carries a signal, and nothing but our own handles keeps the event loop alive.
 *
 * Costs nothing while ranks run: a look is scheduled when the last rank falls asleep, at most one at a time, on a
 * timer that does not keep the event loop alive.
 *
 * Where this session does not host the whole world, the session of process 0 asks the others once it is stuck itself.
 */
export class DeadlockWatch {
  readonly #session: FabricSession
  readonly #runtimes: () => readonly CommRuntime[]
  readonly #eventLoop: EventLoopWatch
  readonly #onDeadlock: ((error: RankweaveError) => void) | undefined
  readonly #agreement: StuckAgreement | undefined
  #timer: NodeJS.Timeout | undefined
  #confirmed = 0
  #doubted = 0
  #stopped = false

  /**
   * @param runtimes the hosted processes that are still alive
   * @param onDeadlock undefined: only reports on demand
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
      this.#agreement = new StuckAgreement(runtimes(), pollsInDoubt, {
        stuck: () => this.#sleep() === 'for good' && this.#nothingElseMoves(),
        decided: (evidence) => this.#decided(evidence),
      })
    }
    watched.add(this)
  }

  /** A process has no rank left that runs. Cheap; called often. */
  arm(): void {
    if (this.#timer === undefined && !this.#stopped) this.#look(confirmDelaysMs[0]!)
  }

  /** A process elsewhere is gone; nobody waits for its answer. */
  peerLost(peer: number): void {
    this.#agreement?.peerLost(peer)
    this.arm()
  }

  stop(): void {
    this.#stopped = true
    if (this.#timer !== undefined) cancel(this.#timer)
    this.#timer = undefined
    this.#agreement?.stop()
    watched.delete(this)
  }

  report(): string {
    const runtimes = this.#runtimes()
    const { blocked, ended, awake } = tally(runtimes)
    return `${blocked} blocked, ${awake} running, ${ended} finished\n${reportWaits(runtimes)}`
  }

  #look(delayMs: number): void {
    if (this.#onDeadlock === undefined || this.#agreement?.asks === false) return
    // A rank may have fallen asleep, and armed it, while a wave was under way: one timer is enough, and `stop` knows one.
    if (this.#timer !== undefined) return
    this.#timer = later(() => this.#check(), delayMs)
    this.#timer.unref()
  }

  #check(): void {
    this.#timer = undefined
    const asleep = this.#sleep()
    if (asleep !== 'for good') {
      this.#confirmed = 0
      this.#doubted = 0
      if (asleep !== 'no') this.#look(asleep === 'frames' ? confirmDelaysMs[0]! : spinMs)
      return
    }
    if (!this.#nothingElseMoves()) {
      this.#confirmed = 0
      this.#look(spinMs)
      return
    }
    const delayMs = confirmDelaysMs[++this.#confirmed]
    if (delayMs !== undefined) this.#look(delayMs)
    else if (this.#agreement === undefined)
      this.#report({ waits: reportWaits(this.#runtimes()), ...this.#tally() })
    else this.#agreement.ask()
  }

  #decided(evidence: Evidence | undefined): void {
    if (this.#stopped) return
    if (evidence === undefined) this.#look(spinMs)
    else this.#report(evidence)
  }

  #report({ waits, blocked, ended }: Evidence): void {
    this.#onDeadlock?.(
      new RankweaveError(
        'ERR_DEADLOCK',
        `deadlock: ${blocked} ${blocked === 1 ? 'rank is' : 'ranks are'} blocked and nothing can wake them\n${waits}`,
        { details: { blocked, ended } },
      ),
    )
  }

  #tally() {
    return tally(this.#runtimes())
  }

  /** Neither the event loop nor another world can wake this one up: for certain, or after long enough in doubt. */
  #nothingElseMoves(): boolean {
    const activities = [this.#eventLoop.look(), this.#otherWorlds()]
    const some = activities.includes('some')
    const doubt = !some && activities.includes('perhaps')
    this.#doubted = doubt ? this.#doubted + 1 : 0
    return !some && (!doubt || this.#doubted >= pollsInDoubt)
  }

  /** Whether all ranks sleep, and what of ours may wake them: frames under way, or a wait's signal. */
  #sleep(): 'no' | 'frames' | 'signal' | 'for good' {
    let waits = 0
    let withSignal = 0
    for (const runtime of this.#runtimes()) {
      if (runtime.waits.awake > 0) return 'no'
      waits += runtime.waits.waits
      withSignal += runtime.waits.withSignal
    }
    // Ranks elsewhere may be stuck though all of ours have ended.
    if (waits === 0 && this.#agreement === undefined) return 'no'
    // A rank may go on with one of its waits over and others pending.
    if (completionsHeld() || !this.#session.quiet()) return 'frames'
    return withSignal > 0 ? 'signal' : 'for good'
  }

  /** A rank that is awake while the event loop has nothing to do waits for something else: perhaps for this world. */
  #otherWorlds(): Activity {
    let activity: Activity = 'none'
    for (const other of watched) {
      if (other === this) continue
      const asleep = other.#sleep()
      if (asleep === 'frames' || asleep === 'signal') return 'some'
      if (asleep === 'no') activity = 'perhaps'
    }
    return activity
  }
}

/** Who waits for what in every world of this thread, now. For a program that seems to hang. */
export function worldReport(): string {
  if (watched.size === 0) return 'no world is running'
  return [...watched].map((world, n) => `world ${n}: ${world.report()}`).join('\n')
}
