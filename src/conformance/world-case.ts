import type { Communicator } from '../comm/communicator.js'
import type { ErrorCode } from '../errors.js'
import type { ExpectedFabric } from '../fabric/conformance/process-identity.js'

/** What a world must turn out to be. */
export interface ExpectedWorld extends ExpectedFabric {
  readonly ranks: number
  /** Where the ranks live; undefined: anywhere. */
  readonly ranksPerProcess?: readonly number[]
}

/** What all ranks of a case know. */
export interface CaseContext {
  readonly expected: ExpectedWorld
  /** Everything random follows from it. */
  readonly seed: number
  /** How often a random case is drawn anew. */
  readonly rounds: number
  /** Payload of the largest message. */
  readonly largeBytes: number
}

/** One rank's part of a case: it computes for itself what it must get. */
export type Check = (world: Communicator, context: CaseContext) => Promise<unknown>

/** What a world is started with. */
export interface WorldSetting {
  readonly eagerLimitBytes?: number
  readonly creditBytes?: number
}

/** One rule of what a world promises, as data: any driver that has a world can run it. */
export interface WorldCase {
  readonly name: string
  /**
   * Collective. Throws what was expected and what was seen. It may use a world of which other cases were run before,
   * and leaves it usable.
   */
  readonly check: Check
  /** Worlds to run it in, one after the other. Default: one with the defaults. */
  readonly settings?: readonly WorldSetting[]
  /** The check ends its world, and this is what the world must fail with. */
  readonly fails?: ErrorCode
}
