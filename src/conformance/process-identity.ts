import { hostname } from 'node:os'
import { threadId } from 'node:worker_threads'
import type { FabricFactory, FabricKind, ProcessLocation } from '../fabric/fabric.js'

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
