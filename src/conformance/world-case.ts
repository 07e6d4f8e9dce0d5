import type { ErrorCode } from '../errors.js'
import type { Communicator } from '../handles/communicator.js'
import type { Machine } from '../machine/machine.js'
import type { MatchingOptions } from '../messages/process/matching-options.js'
import type { TuningFile } from '../tuning/models/tuning-file.js'
import type { ExpectedFabric } from './process-identity.js'

/** The properties that a world must have. */
export interface ExpectedWorld extends ExpectedFabric {
  readonly ranks: number
  /** The ranks of every process; undefined: any distribution. */
  readonly ranksPerProcess?: readonly number[]
}

/** The context that all ranks of a case share. */
export interface CaseContext {
  readonly expected: ExpectedWorld
  /** The seed of everything random. */
  readonly seed: number
  /** The number of repetitions of a random case, each drawn anew. */
  readonly rounds: number
  /** The payload of the largest message. */
  readonly largeBytes: number
}

/** Runs one rank's part of a case, which computes its expected results by itself. */
export type Check = (world: Communicator, context: CaseContext) => Promise<unknown>

/** Runs the part of all ranks of one process in a case, in a hosted program. */
type HostedCheck = (worlds: readonly Communicator[], context: CaseContext) => Promise<unknown>

/** The settings with which a world is started. */
export interface WorldSetting {
  readonly eagerLimitBytes?: number
  readonly creditBytes?: number
  readonly tuning?: TuningFile
  readonly machine?: Machine
  readonly matching?: MatchingOptions
}

/** A guarantee of a world, as data: any driver that has a world can run it. */
export interface WorldCase {
  readonly name: string
  /**
   * Throws an error with expected and actual values. Collective. May run on a world after other cases, and leaves it
   * usable.
   */
  readonly check: Check
  /** The settings of the worlds to run it in, one after the other. Default: one world with the default settings. */
  readonly settings?: readonly WorldSetting[]
  /** The code with which the world must fail, if the check ends it. */
  readonly fails?: ErrorCode
}

/** A guarantee of a world for hosted programs. */
export interface HostedCase {
  readonly name: string
  /** The check, under the conditions of a {@link WorldCase}. */
  readonly hosted: HostedCheck
  readonly settings?: readonly WorldSetting[]
}
