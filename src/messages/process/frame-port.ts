import type { RankweaveError } from '../../errors.js'
import type { Fabric } from '../../fabric/fabric.js'
import type { Machine } from '../../machine/machine.js'
import type { TuningFile } from '../../tuning/models/tuning-file.js'
import type { OnlineOptions } from '../../tuning/online/online-process.js'
import type { MatchingOptions } from './matching-options.js'
import type { WorldLayout } from './world-layout.js'

/** The limits of what a process sends before its receivers answer. */
export interface RuntimeOptions {
  /** The most payload bytes of a message that is sent at once; larger ones wait for their receive. */
  readonly eagerLimitBytes: number
  /**
   * The most bytes of eager messages that one process may have in flight to another before its sends become rendezvous.
   * A message counts 64 bytes, 640 on `websocket`, and its payload.
   */
  readonly creditBytes: number
  /**
   * Whether larger messages may be sent at once, too, if the fabric allows it: those of collectives by `Fabric.ahead`,
   * others by `Fabric.roomFor`. Default: no.
   */
  readonly sendsAhead?: boolean
  /** Whether call sites are retained. Default: no. */
  readonly diagnose?: boolean
  /**
   * The tuning file that decides which algorithms collectives use, the same in all processes. Default: the rule does.
   */
  readonly tuning?: TuningFile
  /** The options by which calls of collectives are chosen and recorded for later runs. Default: not at all. */
  readonly online?: OnlineOptions
  /**
   * The machine of the world, the same in all processes: rank r of the world is on core r. Reorderings, neighborhood
   * collectives and algorithms that follow the network read it. Default: only the nodes of the processes are known.
   */
  readonly machine?: Machine
  /** The counts of message matching that are kept. Default: none. */
  readonly matching?: MatchingOptions
}

/** Handles the frames of one service, outside any communicator. */
export type ServiceHandler = (srcProcess: number, header: Int32Array, payload: Uint8Array) => void

/** Receives the notices that a service gets besides its frames. */
export interface Trouble {
  /** @param error the error of an operation that needs process `peer` */
  peerLost(peer: number, error: RankweaveError): void
  ended(error: RankweaveError): void
}

/** A process as its services see it: how it sends frames, and how it gets those of its own kinds. */
export interface FramePort {
  /** The world process number of this process. */
  readonly process: number
  readonly fabric: Fabric
  readonly layout: WorldLayout
  readonly options: RuntimeOptions
  /** The reason the world ended, once it has; every later call fails with it. */
  readonly ended: RankweaveError | undefined

  send(peer: number, header: Int32Array, payload?: Uint8Array): void
  /** Routes the frames of a kind above those of communicators to `handler`. */
  onService(kind: number, handler: ServiceHandler): void
  /** Notifies a service of lost processes and of the end of the world. */
  onTrouble(service: Trouble): void
  /** The world processes that are lost. */
  readonly lostPeers: Iterable<number>
  /** Returns the error of an operation that needs process `peer`, if that process is lost. */
  lostPeer(peer: number): RankweaveError | undefined
}
