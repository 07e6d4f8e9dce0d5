import { abortedWorld } from '../base/abort.js'
import { nodeFlags, nodeProcess } from '../base/node-process.js'
import { inLaterTurn } from '../base/turn.js'
import { CommRuntime } from '../comm/comm-state.js'
import { stridedTable } from '../comm/table/rank-table.js'
import { isRankweaveError, noteRank, RankweaveError, readableError, reasonText } from '../errors.js'
import type { FabricSession } from '../fabric/fabric.js'
import { Communicator } from '../handles/communicator.js'
import { loadMailboxDesigns } from '../messages/mailboxes/mailbox.js'
import { isSurvived } from '../messages/process/failures.js'
import type { RuntimeOptions } from '../messages/process/frame-port.js'
import type { TraceRecorder } from '../messages/process/matching-traces.js'
import { runtimeOptions } from '../messages/process/runtime.js'
import { type WorldLayout, worldLayout } from '../messages/process/world-layout.js'
import { DeadlockWatch } from './deadlock.js'
import { type ProcessState, rangesText, stateOf } from './diagnosis.js'
import type { WorldEnding, WorldOutcome } from './ending.js'
import { endingOf } from './ending.js'
import { EventLoopWatch } from './event-loop.js'
import { unfinishedBusiness } from './unfinished.js'
import { type HostedResults, hostedValues, type Main, type UserProgram } from './user-program.js'

export interface WorldOptions<A> extends Partial<RuntimeOptions> {
  /** The number of ranks of the whole world. */
  readonly ranks: number
  /** The ranks of each process. Default: ranks are distributed evenly. */
  readonly ranksPerProcess?: readonly number[]
  /** Passed to every `main` unchanged. */
  readonly args?: A
  /** Ends the world; its reason becomes the error's cause. */
  readonly signal?: AbortSignal
  /** If false, a world in which no rank can continue is left unchanged; `worldReport` shows why. Default true. */
  readonly detectDeadlock?: boolean
  /**
   * Called once when the world has failed, before its processes have closed it. `afterSurvived`: the world has survived
   * losses before, and none of them is this error.
   */
  readonly onFailed?: (error: unknown, afterSurvived: boolean) => void
  /**
   * Called when every rank has returned, with ERR_UNFINISHED for what ranks here have left. With `diagnose` the world
   * fails with it instead.
   */
  readonly onUnfinished?: (error: RankweaveError) => void
  /**
   * Knows what kept the event loop alive before the fabric was started. Default: what keeps it alive when the world
   * starts.
   */
  readonly eventLoop?: EventLoopWatch
  /** @internal Called with the world once it runs. */
  readonly onStart?: (world: RunningWorld) => void
  /** @internal Lets the event loop become empty while a rank runs user code; the host is notified when it is. */
  readonly mayRunEmpty?: boolean
}

/** The activity of the processes hosted here that are not lost. */
interface WorldActivity {
  /** The ranks that neither wait nor have finished. */
  readonly awake: number
  readonly waits: number
  readonly withSignal: number
  /** The frames sent, waits begun and ranks finished so far. */
  readonly changes: number
}

/** A world as its host sees it. */
export interface RunningWorld {
  readonly layout: WorldLayout
  /** Whether all its processes are hosted here. */
  readonly whole: boolean
  /** Returns the states of the processes hosted here that are not lost. */
  states(): ProcessState[]
  /** Returns the activity here so far. */
  activity(): WorldActivity
  /** Returns what all ranks hosted here have recorded of matching; none unless the world records it. */
  matchingTraces(): Iterable<TraceRecorder>
  /** Ends the world with an error, unless it has ended. */
  fail(error: RankweaveError): void
  /** The lost processes that the others have agreed to continue without, once the world has ended. */
  readonly without: readonly number[]
}

/**
 * Runs a program on every rank that this session hosts, and serves frames until the ranks of all sessions are done.
 * Closes the session before it settles.
 *
 * @param program a function is called once per rank
 * @returns what the hosted ranks returned, in the order of their world ranks; undefined for ranks that were lost and
 *   survived
 * @throws the world's first error; an error of a rank hosted here is that very object
 * @throws ERR_WORLD for ranks that do not fit the session; ERR_ABORTED through `signal`; ERR_DEADLOCK; ERR_PEER_LOST
 *   when a process was lost before its ranks returned, and a surviving rank had not acknowledged the loss
 */
export async function hostSession<T, A>(
  session: FabricSession,
  program: UserProgram<T, A> | Main<T, A>,
  options: WorldOptions<A>,
): Promise<T[]> {
  let world: World<T, A>
  try {
    if (options.matching?.design !== undefined) await loadMailboxDesigns(options.matching.design)
    world = new World(session, options)
  } catch (error) {
    await session.close()
    throw error
  }
  return world.run(typeof program === 'function' ? { main: program } : program)
}

/** A world in this session, from its first `main` to the closed fabric. */
class World<T, A> {
  readonly #session: FabricSession
  readonly #options: WorldOptions<A>
  readonly #layout: WorldLayout
  readonly #hosts: readonly Host[]
  /** The processes of `#hosts`. */
  readonly #hosted: ReadonlySet<number>
  readonly #ending: WorldEnding
  readonly #watch: DeadlockWatch
  readonly #results: T[]
  /** The ranks that have not returned, on processes that are not lost. */
  #unreturned = 0
  /** The mains that still run, whether or not their results matter. */
  #running = 0
  /** The processes that were lost with ranks that had not returned, in the order of their losses. */
  readonly #losses: { readonly process: number; readonly error: RankweaveError }[] = []
  #settle: { resolve(results: T[]): void; reject(error: unknown): void } | undefined
  #rejections: 'none' | 'held' | 'released' = 'none'
  readonly #without: number[] = []
  #staying = false
  #closed = false

  constructor(session: FabricSession, options: WorldOptions<A>) {
    this.#session = session
    this.#options = options
    this.#layout = worldLayout(options.ranks, session.nodes, options.ranksPerProcess)
    let firstSlot = 0
    this.#hosts = session.hosted.map((fabric) => {
      const runtime = new CommRuntime(fabric, this.#layout, runtimeOptions(options, fabric))
      const host: Host = { runtime, firstSlot, running: runtime.hostedRanks, lost: false }
      firstSlot += runtime.hostedRanks
      return host
    })
    this.#hosted = new Set(this.#hosts.map(({ runtime }) => runtime.process))
    this.#unreturned = firstSlot
    // Results of lost ranks remain undefined.
    this.#results = new Array<unknown>(firstSlot).fill(undefined) as T[]
    this.#ending = endingOf(
      session,
      this.#hosts.map(({ runtime }) => runtime),
      {
        fail: (error) => this.#fail(error),
        close: (outcome) => void this.#close(outcome),
      },
    )
    this.#watch = new DeadlockWatch(
      session,
      () => this.#alive(),
      options.eventLoop ?? new EventLoopWatch(),
      options.detectDeadlock === false ? undefined : (error) => this.#ending.fail(error),
    )
  }

  /** True if other sessions host processes of this world. */
  get #partial(): boolean {
    return this.#session.hosted.length < this.#session.processes
  }

  /** Returns the processes hosted here that are not lost. */
  #alive(): readonly CommRuntime[] {
    const alive = this.#losses.length === 0 ? this.#hosts : this.#hosts.filter(({ lost }) => !lost)
    return alive.map(({ runtime }) => runtime)
  }

  #activity(): WorldActivity {
    let [awake, waits, withSignal, changes] = [0, 0, 0, 0]
    for (const runtime of this.#alive()) {
      awake += runtime.waits.awake
      waits += runtime.waits.waits
      withSignal += runtime.waits.withSignal
      changes += runtime.processCounters.framesSent + runtime.waits.changes
    }
    return { awake, waits, withSignal, changes }
  }

  *#matchingTraces(): Generator<TraceRecorder> {
    for (const { runtime } of this.#hosts) {
      const { matchingTraces: traces, firstRank, hostedRanks } = runtime
      if (traces === undefined) continue
      for (let index = 0; index < hostedRanks; index++) yield traces.recorder(firstRank + index)
    }
  }

  run(program: UserProgram<T, A>): Promise<T[]> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
      for (const host of this.#hosts) {
        host.runtime.onAbort = (error) => this.#ending.fail(error)
        host.runtime.onAllAsleep = () => this.#watch.arm()
        host.runtime.onPeerLost = (peer, reason) => this.#peerLost(host, peer, reason)
        host.runtime.onWorldLost = (error) => this.#ending.cutOff(error)
      }
      const { signal } = this.#options
      if (signal?.aborted === true) this.#onSignal()
      else signal?.addEventListener('abort', this.#onSignal)
      this.#options.onStart?.({
        layout: this.#layout,
        whole: !this.#partial,
        states: () => this.#alive().map(stateOf),
        activity: () => this.#activity(),
        matchingTraces: () => this.#matchingTraces(),
        fail: (error) => this.#ending.fail(error),
        without: this.#without,
      })
      if (this.#options.mayRunEmpty !== true) this.#stay()
      this.#start(program)
      this.#watch.arm()
      if (this.#unreturned === 0) this.#allReturned()
    })
  }

  /** Keeps the session alive, because other sessions may need it after its ranks have returned or failed. */
  #stay(): void {
    if (this.#staying || !this.#partial) return
    this.#staying = true
    this.#session.hosted[0].ref()
  }

  #start({ main, hosted }: UserProgram<T, A>): void {
    const table = stridedTable(this.#layout.ranks)
    // Every process opens the world before any rank can send to it.
    const states = this.#hosts.map(({ runtime }) =>
      runtime.hostedRanks === 0 ? undefined : runtime.createContext({ leader: 0, counter: 0 }, table),
    )
    const args = this.#options.args as A
    this.#hosts.forEach((host, n) => {
      const { hostedRanks, waits } = host.runtime
      const handle = (index: number) => new Communicator(states[n]!, index)
      if (hosted !== undefined && hostedRanks > 0 && !this.#ending.failed) {
        waits.share()
        const worlds = Object.freeze(Array.from({ length: hostedRanks }, (_, index) => handle(index)))
        this.#call(
          host,
          0,
          () => hosted(worlds, args),
          (results) => this.#allOf(host, results),
        )
        return
      }
      for (let index = 0; index < hostedRanks && !this.#ending.failed; index++)
        this.#call(
          host,
          index,
          () => main(handle(index), args),
          (value) => this.#returned(host, index, value),
        )
    })
  }

  /**
   * Calls user code.
   *
   * @param index of the rank that an error is attributed to
   */
  #call<R>(host: Host, index: number, code: () => R | PromiseLike<R>, returned: (value: R) => void): void {
    try {
      const promise = Promise.resolve(code())
      this.#running++
      promise.then(
        (value) => {
          this.#mainSettled()
          if (!host.lost) returned(value)
        },
        (error) => {
          this.#mainSettled()
          // A killed process cannot report that its ranks failed.
          if (!host.lost) this.#failed(host, index, error)
        },
      )
    } catch (error) {
      this.#failed(host, index, error)
    }
  }

  #allOf(host: Host, results: HostedResults<T>): void {
    const { hostedRanks } = host.runtime
    let values: HostedResults<T>
    try {
      values = hostedValues(hostedRanks, results)
    } catch (error) {
      this.#failed(host, 0, error)
      return
    }
    for (let index = 0; index < hostedRanks; index++) this.#returned(host, index, values?.[index] as T)
  }

  #returned(host: Host, index: number, value: T): void {
    this.#results[host.firstSlot + index] = value
    host.runtime.waits.end(index)
    host.runtime.acknowledgements.returned(index, host.runtime.lostPeers)
    if (--host.running === 0) this.#ending.returned(host.runtime)
    if (--this.#unreturned === 0) this.#allReturned()
  }

  #failed({ runtime }: Host, index: number, thrown: unknown): void {
    const error = readableError(thrown)
    // Errors after the first one follow from it.
    if (!this.#ending.failed) noteRank(error, runtime.firstRank + index)
    this.#ending.fail(error)
  }

  #mainSettled(): void {
    this.#running--
    this.#releaseRejections()
  }

  /** Releases the held rejections once no main runs and no wait is left to fail. */
  #releaseRejections(): void {
    if (this.#running > 0 || !this.#closed || this.#rejections !== 'held') return
    this.#rejections = 'released'
    releaseRejections()
  }

  #allReturned(): void {
    this.#stay()
    const living = this.#alive().map(({ acknowledgements }) => acknowledgements)
    const fatal = this.#losses.find(({ process }) => !isSurvived(process, living))
    if (fatal === undefined) this.#ending.done()
    else this.#ending.fail(fatal.error)
  }

  #peerLost(host: Host, peer: number, reason: string): void {
    if (peer !== host.runtime.process) {
      if (!this.#hosted.has(peer)) this.#ending.peerLost(peer, reason)
      this.#watch.peerLost(peer)
      return
    }
    if (host.lost) return
    const first = host.runtime.firstRank
    const error = new RankweaveError(
      'ERR_PEER_LOST',
      `process ${peer} with ${rangesText([first, first + host.runtime.hostedRanks - 1])} is lost: ${reason}`,
      { details: { process: peer } },
    )
    host.lost = true
    if (host.running > 0) this.#losses.push({ process: peer, error })
    this.#unreturned -= host.running
    this.#end([host.runtime], error)
    if (this.#partial) this.#ending.cutOff(error)
    else if (this.#unreturned === 0) this.#allReturned()
  }

  readonly #onSignal = (): void => {
    this.#ending.fail(abortedWorld(this.#options.signal?.reason))
  }

  #fail(error: unknown): void {
    this.#options.onFailed?.(
      error,
      this.#alive().every((each) => each.acknowledgements.cover(each.lostPeers)),
    )
    this.#stay()
    const ended = isRankweaveError(error, 'ERR_DEADLOCK', 'ERR_WORLD_LOST')
      ? error
      : new RankweaveError('ERR_WORLD_ENDED', `the world has ended: ${reasonText(error)}`, { cause: error })
    this.#end(
      this.#hosts.map((host) => host.runtime),
      ended,
    )
  }

  #end(runtimes: readonly CommRuntime[], error: RankweaveError): void {
    tolerateRejection(error)
    if (this.#rejections === 'none' && (this.#running > 0 || runtimes.some(({ waits }) => waits.waits > 0))) {
      holdRejections()
      this.#rejections = 'held'
    }
    for (const runtime of runtimes) runtime.end(error)
  }

  async #close({ failed, error, without }: WorldOutcome): Promise<void> {
    for (const process of without) this.#without.push(process)
    this.#watch.stop()
    if (this.#staying) this.#session.hosted[0].unref()
    this.#options.signal?.removeEventListener('abort', this.#onSignal)
    let unfinished: RankweaveError | undefined
    if (!failed) {
      unfinished = this.#unfinished()
      // The operations that ranks left pending when they returned can no longer complete.
      this.#end(
        this.#hosts.map((host) => host.runtime),
        new RankweaveError('ERR_WORLD_ENDED', 'the world has ended: every rank has returned'),
      )
    }
    this.#closed = true
    this.#releaseRejections()
    const { resolve, reject } = this.#settle!
    try {
      await this.#session.close()
    } catch (closing) {
      if (!failed) return reject(closing)
    }
    if (failed) reject(error)
    else if (unfinished !== undefined) reject(unfinished)
    else resolve(this.#results)
  }

  /** Returns the error of what ranks have left, or reports it. After a loss, messages may have no receiver. */
  #unfinished(): RankweaveError | undefined {
    const { diagnose, onUnfinished } = this.#options
    if (diagnose !== true && onUnfinished === undefined) return undefined
    const runtimes = this.#alive()
    if (runtimes.some(({ lostPeers }) => [...lostPeers].length > 0)) return undefined
    // Each fabric first delivers what has arrived.
    for (const { fabric } of runtimes) fabric.poll()
    const unfinished = unfinishedBusiness(runtimes)
    if (diagnose === true) return unfinished
    if (unfinished !== undefined) onUnfinished!(unfinished)
    return undefined
  }
}

/** A hosted process of a world. */
interface Host {
  readonly runtime: CommRuntime
  /** The place of its first rank's result. */
  readonly firstSlot: number
  /** The number of its ranks that have not returned. */
  running: number
  lost: boolean
}

/**
 * The errors that may go unhandled. When a world ends, every pending wait fails, also those whose promises the program
 * has dropped or would have awaited next. Their errors repeat the one that `run` rejects with, so they must not end the
 * program as unhandled rejections. All other rejections have their usual effect.
 */
const tolerated = new WeakSet<RankweaveError>()

/** The worlds that have ended while some of their mains still run. */
let holds = 0

/** Lets rejections with this very error go unhandled while a world holds rejections. */
function tolerateRejection(error: RankweaveError): void {
  tolerated.add(error)
}

function holdRejections(): void {
  if (holds++ > 0) return
  if (nodeProcess === undefined) page.addEventListener?.('unhandledrejection', onPageUnhandled)
  else nodeProcess.on('unhandledRejection', onUnhandled)
}

/** Releases the hold after the rejections of this turn have been seen. */
function releaseRejections(): void {
  inLaterTurn(release, undefined)
}

function release(): void {
  if (--holds > 0) return
  if (nodeProcess === undefined) page.removeEventListener?.('unhandledrejection', onPageUnhandled)
  else nodeProcess.off('unhandledRejection', onUnhandled)
}

/** The parts of a browser's page or worker that are used here; other runtimes need not have them. */
interface Page {
  addEventListener?(type: string, listener: (event: PageRejection) => void): void
  removeEventListener?(type: string, listener: (event: PageRejection) => void): void
}

interface PageRejection {
  readonly reason: unknown
  preventDefault(): void
}

const page = globalThis as Page

/** Keeps a tolerated rejection off the page's console. */
function onPageUnhandled(event: PageRejection): void {
  if (tolerated.has(event.reason as RankweaveError)) event.preventDefault()
}

function onUnhandled(reason: unknown): void {
  if (tolerated.has(reason as RankweaveError)) return
  // Node does nothing by itself if there is a listener, so this one does what Node would have done.
  const node = nodeProcess!
  if (node.listenerCount('unhandledRejection') === 1 && throwsByDefault()) throw reason
}

function throwsByDefault(): boolean {
  const mode = nodeFlags().findLast((flag) => flag.startsWith('--unhandled-rejections='))
  return mode === undefined || mode.endsWith('=throw') || mode.endsWith('=strict')
}
