import type { RankweaveError } from '../../errors.js'
import type { Fabric } from '../../fabric/fabric.js'
import type { ProcessCounters, RankCounters } from './counters.js'
import type { WaitTracker } from './wait-tracker.js'
import type { WorldLayout } from './world-layout.js'

/** Limits of what a process sends before its receivers answer. */
export interface RuntimeOptions {
  /** Messages of at most this many payload bytes are sent at once; larger ones wait for their receive. */
  readonly eagerLimitBytes: number
  /** Eager payload that one process may have in flight to another before its sends become rendezvous. */
  readonly creditBytes: number
}

/** Handles the frames of one service, outside any communicator. */
export type ServiceHandler = (srcProcess: number, header: Int32Array, payload: Uint8Array) => void

/** What a service is notified of besides its frames. */
export interface Trouble {
  peerLost(peer: number): void
  ended(error: RankweaveError): void
}

/**
 * One process as the layers above see it: who it is, how it sends, what it counts, and who of its ranks is blocked.
 * Implemented by the runtime of a world; tests implement as much of it as they need.
 */
export interface ProcessPort {
  /** World process number of this process. */
  readonly process: number
  readonly fabric: Fabric
  readonly layout: WorldLayout
  readonly options: RuntimeOptions
  /** World rank of the first rank hosted here, and how many follow. */
  readonly firstRank: number
  readonly hostedRanks: number
  /** Messages of at most this many payload bytes go in one frame, with their envelope. */
  readonly shortBytes: number
  readonly waits: WaitTracker
  readonly processCounters: ProcessCounters
  /** Why the world ended, once it has; every later call fails with it. */
  readonly ended: RankweaveError | undefined
  /** Whether a rank that is about to wait may poll first: all others here wait already. */
  readonly mayPoll: boolean

  rankCounters(worldRank: number): RankCounters
  /** @param index hosted index: world rank minus the first world rank of this process */
  countCollective(index: number): void
  send(peer: number, header: Int32Array, payload?: Uint8Array): void
  /** Routes the frames of a kind above those of communicators to `handler`. */
  onService(kind: number, handler: ServiceHandler): void
  /** Notifies a service of lost processes and of the end of the world. */
  onTrouble(service: Trouble): void
  /** The error of an operation that needs process `peer`, if that process is lost. */
  lostPeer(peer: number): RankweaveError | undefined
  /** Polls for what completes `operation`, which the only awake rank here is about to wait for. */
  lookFor(operation: { readonly settled: boolean }): void
  /** Watches a transfer that the fabric carries out by itself: microtasks follow when it settles. */
  watch(transfer: Promise<void>): Promise<void>
}
