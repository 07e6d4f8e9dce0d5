import { RankweaveError, reasonText, wrongValue } from '../../errors.js'
import type { Fabric, FrameSink } from '../../fabric/fabric.js'
import { OnlineProcess } from '../../tuning/online/online-process.js'
import { CheckedBuffers } from '../datatype/checked-buffers.js'
import { CallSites } from './call-sites.js'
import { HostedCounters, newProcessCounters, type RankCounters } from './counters.js'
import { Credit } from './credit.js'
import { Acknowledgements, Failures } from './failures.js'
import type { RuntimeOptions, ServiceHandler, Trouble } from './frame-port.js'
import { type FrameContext, FrameRouter } from './frame-router.js'
import { requireFrame } from './frames.js'
import { MatchingTraces } from './matching-traces.js'
import { FreshMemory, Scratch } from './process-memory.js'
import type { ProcessPort } from './process-port.js'
import { Progress } from './progress.js'
import { Staging } from './staging.js'
import { WaitTracker } from './wait-tracker.js'
import type { WorldLayout } from './world-layout.js'

export const defaultRuntimeOptions: RuntimeOptions = { eagerLimitBytes: 65_536, creditBytes: 16 * 2 ** 20 }

/** The share of a link's queue that its credit may fill: frames have headers, and others go there, too. */
const queueShare = 3 / 4

/**
 * Returns the limits on a fabric: those given, otherwise the defaults. An eager limit that is set applies to
 * collectives, too. The default credit fits in the queues of the fabric.
 *
 * @throws ERR_ARGUMENT for more credit than three quarters of the queue of a link: a peer that computes would be lost
 */
export function runtimeOptions(
  given: Partial<RuntimeOptions>,
  { ahead }: Pick<Fabric, 'ahead'>,
): RuntimeOptions {
  const mostBytes = ahead === undefined ? Number.POSITIVE_INFINITY : Math.floor(ahead.queueBytes * queueShare)
  const wanted = Math.max(defaultRuntimeOptions.creditBytes, ahead?.windowBytes ?? 0)
  const creditBytes = given.creditBytes ?? Math.min(wanted, mostBytes)
  if (creditBytes > mostBytes) {
    const expected = `creditBytes: expected at most ${mostBytes}, three quarters of maxQueuedBytes of the world`
    throw wrongValue('ERR_ARGUMENT', expected, creditBytes)
  }
  return {
    eagerLimitBytes: given.eagerLimitBytes ?? defaultRuntimeOptions.eagerLimitBytes,
    creditBytes,
    sendsAhead: given.eagerLimitBytes === undefined,
    ...(given.diagnose === true ? { diagnose: true } : {}),
    ...(given.tuning === undefined ? {} : { tuning: given.tuning }),
    ...(given.online === undefined ? {} : { online: given.online }),
    ...(given.machine === undefined ? {} : { machine: given.machine }),
    ...(given.matching === undefined ? {} : { matching: given.matching }),
  }
}

/**
 * A process of a world: its end of the fabric, the communicators its ranks belong to, its counters, and which ranks
 * wait. Everything the ranks of a process can share belongs to it, once (decision 1).
 */
export class Runtime<C extends FrameContext> implements ProcessPort {
  readonly fabric: Fabric
  readonly layout: WorldLayout
  readonly options: RuntimeOptions
  readonly firstRank: number
  readonly hostedRanks: number
  readonly shortBytes: number
  readonly waits: WaitTracker
  readonly callSites: CallSites | undefined
  readonly matchingTraces: MatchingTraces | undefined
  readonly online: OnlineProcess | undefined
  readonly progress: Progress
  readonly credit: Credit
  readonly processCounters = newProcessCounters()
  readonly scratch = new Scratch()
  readonly sentBuffers = new CheckedBuffers()
  readonly filledBuffers = new CheckedBuffers()
  readonly fresh: FreshMemory
  readonly acknowledgements = new Acknowledgements()
  readonly staging: Staging | undefined
  readonly hostedCounters: HostedCounters
  protected readonly router: FrameRouter<C>
  readonly #failures: Failures
  #lastCounter = 0

  constructor(fabric: Fabric, layout: WorldLayout, options: RuntimeOptions = defaultRuntimeOptions) {
    this.fabric = fabric
    this.layout = layout
    this.#failures = new Failures(layout)
    this.options = options
    this.firstRank = layout.firstRank[fabric.process]
    this.hostedRanks = layout.firstRank[fabric.process + 1] - this.firstRank
    this.shortBytes = Math.min(options.eagerLimitBytes, fabric.maxPayloadBytes)
    this.fresh = new FreshMemory(fabric.heap)
    this.hostedCounters = new HostedCounters(this.hostedRanks)
    this.waits = new WaitTracker(this.hostedRanks)
    this.callSites = options.diagnose === true ? new CallSites(this.firstRank, this.hostedRanks) : undefined
    const { matching } = options
    this.matchingTraces = matching?.trace === undefined ? undefined : new MatchingTraces(matching)
    this.online = options.online === undefined ? undefined : new OnlineProcess(options.online, fabric.process)
    this.progress = new Progress(fabric, this.waits, this.processCounters, this.#failures)
    this.waits.listener = {
      waiting: () => fabric.ref(),
      idle: () => fabric.unref(),
      allAsleep: () => {
        this.onAllAsleep()
        this.progress.spinLater()
      },
    }
    this.router = new FrameRouter(
      this.processCounters,
      this.progress,
      this.#failures,
      {
        received: (peer, sizeBytes) => this.credit.received(peer, sizeBytes),
        waits: (peer, sizeBytes) => this.credit.waits(peer, sizeBytes),
      },
      (peer, reason) => this.onPeerLost(peer, reason),
      (error) => this.onWorldLost(error),
    )
    this.credit = new Credit(this)
    this.staging = fabric.staging === undefined ? undefined : new Staging(fabric.staging)
    fabric.attach(fabric.isTrusted ? this.router : this.#checked(fabric.maxPayloadBytes))
  }

  /** Returns a sink that checks frames before they are routed, since other programs may have made them. */
  #checked(maxPayloadBytes: number): FrameSink {
    const { router } = this
    return {
      frame: (src, header, payload) => {
        requireFrame(header, payload, maxPayloadBytes)
        router.frame(src, header, payload)
      },
      peerLost: (peer, reason) => router.peerLost(peer, reason),
      worldLost: (error) => router.worldLost(error),
    }
  }

  get process(): number {
    return this.fabric.process
  }

  get ended(): RankweaveError | undefined {
    return this.#failures.ended
  }

  get contexts(): Iterable<C> {
    return this.router.contexts
  }

  rankCounters(worldRank: number): RankCounters {
    return this.hostedCounters.of(worldRank - this.firstRank)
  }

  /**
   * Returns a number that this process has not drawn before. With the leader's world rank it names a communicator
   * uniquely, so no agreement is needed (docs/split-algorithms.md#names-of-communicators).
   */
  drawCounter(): number {
    return ++this.#lastCounter
  }

  send(peer: number, header: Int32Array, payload?: Uint8Array): void {
    const counters = this.processCounters
    counters.framesSent++
    counters.frameBytesSent += header.length * 4 + (payload === undefined ? 0 : payload.length)
    this.fabric.send(peer, header, payload)
  }

  onService(kind: number, handler: ServiceHandler): void {
    this.router.onService(kind, handler)
  }

  onTrouble(service: Trouble): void {
    this.#failures.listen(service)
  }

  get lostPeers(): Iterable<number> {
    return this.#failures.lostPeers
  }

  lostPeer(peer: number): RankweaveError | undefined {
    return this.#failures.lostPeer(peer)
  }

  /** Called when every hosted rank is blocked or has ended; set by the world that hosts this process. */
  onAllAsleep: () => void = () => {}

  /** Called when a process is lost, this one included; set by the world that hosts this process. */
  onPeerLost: (peer: number, reason: string) => void = () => {}

  /** Called when the authority of the world is lost; set by the world that hosts this process. */
  onWorldLost: (error: RankweaveError) => void = (error) => this.end(error)

  /** Called by `world.abort`; set by the world that hosts this process. */
  onAbort: (error: RankweaveError) => void = (error) => this.end(error)

  abort(worldRank: number, reason: unknown): void {
    this.onAbort(
      new RankweaveError('ERR_WORLD_ABORTED', `rank ${worldRank} aborted the world: ${reasonText(reason)}`, {
        details: { rank: worldRank },
        cause: reason,
      }),
    )
  }

  /** Ends the world here: every pending wait and every later call fails with `error`. */
  end(error: RankweaveError): void {
    this.#failures.end(error)
  }
}
