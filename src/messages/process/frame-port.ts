import type { RankweaveError } from '../../errors.js'
import type { Fabric } from '../../fabric/fabric.js'
import type { Machine } from '../../machine/machine.js'
import type { TuningFile } from '../../tuning/models/tuning-file.js'
import type { OnlineOptions } from '../../tuning/online/online-options.js'
import type { MatchingOptions } from './matching-options.js'
import type { WorldLayout } from './world-layout.js'

/** Limits of what a process sends before its receivers answer. */
export interface RuntimeOptions {
  /** Messages of at most this many payload bytes are sent at once; larger ones wait for their receive. */
  readonly eagerLimitBytes: number
  /**
   * What one process may have in flight to another in eager messages, 64 bytes each, 640 on `websocket`, and
   * their payload, before its sends become rendezvous.
   */
  readonly creditBytes: number
  /**
   * Whether larger messages may be sent at once, too, where the fabric says so: those of collectives by
   * `Fabric.ahead`, others by `Fabric.roomFor`. Default: no.
   */
  readonly sendsAhead?: boolean
  /** Whether call sites are retained. Default: no. */
  readonly diagnose?: boolean
  /** Decides which algorithms collectives use, the same file in all processes. Default: the rule does. */
  readonly tuning?: TuningFile
  /** How calls of collectives are chosen and recorded for runs to come. Default: not at all. */
  readonly online?: OnlineOptions
  /**
   * The machine of the world, the same in all processes: rank r of the world is on core r. Reorderings, neighborhood
   * collectives and algorithms that follow the network read it. Default: only the nodes of the processes are known.
   */
  readonly machine?: Machine
  /** What is counted of message matching. Default: nothing. */
  readonly matching?: MatchingOptions
}

/** Handles the frames of one service, outside any communicator. */
export type ServiceHandler = (srcProcess: number, header: Int32Array, payload: Uint8Array) => void

/** What a service is notified of besides its frames. */
export interface Trouble {
  /** @param error the error of an operation that needs process `peer` */
  peerLost(peer: number, error: RankweaveError): void
  ended(error: RankweaveError): void
}

/** One process as its services see it: how it sends frames, and how it gets those of its own kinds. */
export interface FramePort {
  /** World process number of this process. */
  readonly process: number
  readonly fabric: Fabric
  readonly layout: WorldLayout
  readonly options: RuntimeOptions
  /** Why the world ended, once it has; every later call fails with it. */
  readonly ended: RankweaveError | undefined

  send(peer: number, header: Int32Array, payload?: Uint8Array): void
  /** Routes the frames of a kind above those of communicators to `handler`. */
  onService(kind: number, handler: ServiceHandler): void
  /** Notifies a service of lost processes and of the end of the world. */
  onTrouble(service: Trouble): void
  /** World processes that are lost. */
  readonly lostPeers: Iterable<number>
  /** The error of an operation that needs process `peer`, if that process is lost. */
  lostPeer(peer: number): RankweaveError | undefined
}
