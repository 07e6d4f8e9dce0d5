import type { OnlineProcess } from '../../tuning/online/online-process.js'
import type { CheckedBuffers } from '../datatype/checked-buffers.js'
import type { CallSites } from './call-sites.js'
import type { HostedCounters, ProcessCounters, RankCounters } from './counters.js'
import type { Credit } from './credit.js'
import type { Acknowledgements } from './failures.js'
import type { FramePort } from './frame-port.js'
import type { MatchingTraces } from './matching-traces.js'
import type { FreshMemory, Scratch } from './process-memory.js'
import type { Progress } from './progress.js'
import type { Staging } from './staging.js'
import type { WaitTracker } from './wait-tracker.js'

/**
 * A process as the rooms above see it: its identity, how it sends, what it counts, and which of its ranks are blocked.
 * The runtime of a world implements it; tests implement as much of it as they need.
 */
export interface ProcessPort extends FramePort {
  /** The world rank of the first rank hosted here, and how many follow. */
  readonly firstRank: number
  readonly hostedRanks: number
  /** The most payload bytes of a message that goes in one frame, with its envelope. */
  readonly shortBytes: number
  readonly waits: WaitTracker
  readonly callSites?: CallSites | undefined
  readonly matchingTraces?: MatchingTraces | undefined
  /** Undefined unless the world learns from its calls; then it costs nothing. */
  readonly online?: OnlineProcess | undefined
  readonly progress: Progress
  /** The flow control of payload, over all communicators. */
  readonly credit: Credit
  readonly processCounters: ProcessCounters
  readonly hostedCounters: HostedCounters
  /** Memory for large values, retained from call to call. */
  readonly scratch: Scratch
  /** The arrays that short messages were sent from, and received into, lately. */
  readonly sentBuffers: CheckedBuffers
  readonly filledBuffers: CheckedBuffers
  readonly fresh: FreshMemory
  /** The memory where payloads are copied for processes that can read this one's memory; undefined if none can. */
  readonly staging: Staging | undefined

  /** The ranks here that continue without lost processes. */
  readonly acknowledgements: Acknowledgements

  rankCounters(worldRank: number): RankCounters
}
