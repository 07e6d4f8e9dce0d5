import type { OnlineProcess } from '../../tuning/online/online-process.js'
import type { CheckedBuffers } from '../datatype/checked-buffers.js'
import type { Acknowledgements } from './acknowledgements.js'
import type { CallSites } from './call-sites.js'
import type { ProcessCounters, RankCounters } from './counters.js'
import type { Credit } from './credit.js'
import type { FramePort } from './frame-port.js'
import type { FreshMemory } from './fresh-memory.js'
import type { MatchingTraces } from './matching-traces.js'
import type { Progress } from './progress.js'
import type { Scratch } from './scratch.js'
import type { Staging } from './staging.js'
import type { WaitTracker } from './wait-tracker.js'

/**
 * One process as the rooms above see it: its identity, how it sends, what it counts, and which of its ranks
 * are blocked. Implemented by the runtime of a world; tests implement as much of it as they need.
 */
export interface ProcessPort extends FramePort {
  /** World rank of the first rank hosted here, and how many follow. */
  readonly firstRank: number
  readonly hostedRanks: number
  /** Messages of at most this many payload bytes go in one frame, with their envelope. */
  readonly shortBytes: number
  readonly waits: WaitTracker
  /** Undefined unless the world diagnoses: then nothing is paid for it. */
  readonly callSites?: CallSites | undefined
  /** Undefined unless the world records matching: then nothing is paid for it. */
  readonly matchingTraces?: MatchingTraces | undefined
  /** Undefined unless the world learns from its calls: then nothing is paid for it. */
  readonly online?: OnlineProcess | undefined
  readonly progress: Progress
  /** Flow control of payload, over all communicators. */
  readonly credit: Credit
  readonly processCounters: ProcessCounters
  /** Memory for large values, retained from call to call. */
  readonly scratch: Scratch
  /** Arrays that short messages were sent from, and received into, lately. */
  readonly sentBuffers: CheckedBuffers
  readonly filledBuffers: CheckedBuffers
  /** Memory that receives get. */
  readonly fresh: FreshMemory
  /** Where payloads are copied for processes that can read this one's memory; undefined where none can. */
  readonly staging: Staging | undefined

  /** Which ranks here continue without which lost processes. */
  readonly acknowledgements: Acknowledgements

  rankCounters(worldRank: number): RankCounters
  /** @param index hosted index: world rank minus the first world rank of this process */
  countCollective(index: number): void
  /** A collective of all ranks here. */
  countCollectives(): void
}
