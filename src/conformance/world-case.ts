import { hostname } from 'node:os'
import { threadId } from 'node:worker_threads'
import type { ErrorCode } from '../errors.js'
import type { FabricFactory, FabricKind, ProcessLocation } from '../fabric/fabric.js'
import type { Communicator } from '../handles/communicator.js'
import type { Machine } from '../machine/machine.js'
import type { MatchingOptions } from '../messages/process/matching-options.js'
import type { TuningFile } from '../tuning/models/tuning-file.js'

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

/**
 * The properties that a fabric must have. The caller states them, so that a silent fallback to another fabric fails.
 */
export interface ExpectedFabric {
  readonly kind: FabricKind
  readonly processes: number
  readonly places: ProcessLocation
}

/** Fills in defaults from the factory. */
export function expectedFabric(
  factory: Pick<FabricFactory, 'kind' | 'processes' | 'places'>,
  given: Partial<ExpectedFabric> = {},
): ExpectedFabric {
  return {
    kind: given.kind ?? factory.kind,
    processes: given.processes ?? factory.processes,
    places: given.places ?? factory.places ?? 'anywhere',
  }
}

/** Returns the identity of the calling thread in three words: host, OS process, thread. */
export function placeHere(): Int32Array {
  let host = 0
  for (const char of hostname()) host = (Math.imul(host, 31) + char.codePointAt(0)!) | 0
  return Int32Array.of(host, process.pid, threadId)
}

/**
 * @param places of every process, as `placeHere` returns them
 * @returns what is wrong with them, or undefined
 */
export function misplaced(
  places: readonly ArrayLike<number>[],
  expected: ProcessLocation,
): string | undefined {
  const distinct = (words: number) =>
    new Set(places.map((place) => Array.from(place).slice(0, words).join(' '))).size
  const [osProcesses, threads] = [distinct(2), distinct(3)]
  const seen = `${places.length} processes in ${threads} threads of ${osProcesses} OS processes`
  switch (expected) {
    case 'one thread':
      return threads === 1 ? undefined : `expected all processes in one thread, got ${seen}`
    case 'threads':
      return threads === places.length && osProcesses === 1
        ? undefined
        : `expected every process in its own thread in one OS process, got ${seen}`
    case 'OS processes':
      return osProcesses === places.length
        ? undefined
        : `expected every process in its own OS process, got ${seen}`
    case 'anywhere':
      return undefined
  }
}
