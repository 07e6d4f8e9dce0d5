import {
  type ConformanceCase,
  type FabricConformanceOptions,
  fabricConformance,
} from '../../src/conformance/fabric-conformance.js'
import type { FabricFactory } from '../../src/fabric/fabric.js'
import { ThreadsSession } from '../../src/fabric/threads/threads.js'
import {
  connectThreads,
  resolveThreads,
  type ThreadsConnection,
  type ThreadsOptions,
} from '../../src/fabric/threads/threads-connect.js'

/** A case may open a session more than once. */
const opensPerCase = 2

/** One world's memory per session that a case may open, by process. */
export function connectionsOfCase(options: ThreadsOptions): ThreadsConnection[][] {
  const sets = Array.from({ length: opensPerCase }, () => connectThreads(resolveThreads(options)))
  return sets[0].map((_, process) => sets.map((set) => set[process]))
}

/** What a process of a conformance case opens, one after the other. */
export function factoryOf(connections: readonly ThreadsConnection[]): FabricFactory {
  let opened = 0
  return {
    kind: 'threads',
    processes: connections[0].nodes.length,
    open: async () => new ThreadsSession(connections[opened++]),
  }
}

export function caseOf(
  connections: readonly ThreadsConnection[],
  name: string,
  options: FabricConformanceOptions,
): ConformanceCase {
  const found = fabricConformance(factoryOf(connections), options).find((each) => each.name === name)
  if (found === undefined) throw new Error(`there is no case '${name}'`)
  return found
}
