import type { Communicator } from '../comm/communicator.js'
import type { ErrorCode } from '../errors.js'
import type { Machine } from '../machine/machine.js'
import type { MatchingOptions } from '../messages/process/matching-options.js'
import type { TuningFile } from '../tuning/models/tuning-file.js'
import type { ExpectedFabric } from './process-identity.js'

/** What a world must be. */
export interface ExpectedWorld extends ExpectedFabric {
  readonly ranks: number
  /** Ranks of every process; undefined: any distribution. */
  readonly ranksPerProcess?: readonly number[]
}

/** What all ranks of a case share. */
export interface CaseContext {
  readonly expected: ExpectedWorld
  /** Seed of everything random. */
  readonly seed: number
  /** Repetitions of a random case, each drawn anew. */
  readonly rounds: number
  /** Payload of the largest message. */
  readonly largeBytes: number
}

/** One rank's part of a case: it computes by itself what it must get. */
export type Check = (world: Communicator, context: CaseContext) => Promise<unknown>

/** All ranks of one process do their part of a case, in a hosted program. */
export type HostedCheck = (worlds: readonly Communicator[], context: CaseContext) => Promise<unknown>

/** What a world is started with. */
export interface WorldSetting {
  readonly eagerLimitBytes?: number
  readonly creditBytes?: number
  readonly tuning?: TuningFile
  readonly machine?: Machine
  readonly matching?: MatchingOptions
}

/** One guarantee of a world, as data: any driver that has a world can run it. */
export interface WorldCase {
  readonly name: string
  /**
   * Collective. Throws an error with expected and actual values. May run on a world after other cases, and
   * leaves it usable.
   */
  readonly check: Check
  /**
   * Settings of the worlds to run it in, one after the other. Default: one world with the default settings.
   */
  readonly settings?: readonly WorldSetting[]
  /** The check ends its world, which must fail with this code. */
  readonly fails?: ErrorCode
}

/** The same of hosted programs. */
export interface HostedCase {
  readonly name: string
  /** As the check of a {@link WorldCase}. */
  readonly hosted: HostedCheck
  readonly settings?: readonly WorldSetting[]
}
