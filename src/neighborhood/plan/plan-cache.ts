import { RecentObjects } from '../../base/maps.js'
import { type MessageRounds, messageRounds } from '../../schedule/lower/rounds.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { formatStrategy, type Strategy } from '../strategies/strategies.js'
import { type NeighborOperation, type Plan, verifiedPlan } from './plan.js'

export class CachedPlan {
  readonly operation: NeighborOperation
  readonly topology: ProcessTopology
  readonly strategy: string
  readonly nodeOf: Int32Array
  #plan: Plan
  #rounds: MessageRounds | undefined
  #isShared = false

  constructor(
    operation: NeighborOperation,
    topology: ProcessTopology,
    strategy: string,
    nodeOf: Int32Array,
    made: Plan,
  ) {
    this.operation = operation
    this.topology = topology
    this.strategy = strategy
    this.nodeOf = nodeOf
    this.#plan = made
  }

  get plan(): Plan {
    return this.#plan
  }

  /** The round in which every message of its schedule travels, computed once for all processes of an address space. */
  get rounds(): MessageRounds {
    if (this.#rounds !== undefined) return this.#rounds
    const rounds = messageRounds(this.#plan.schedule)
    // Every process has its own address space if memory is shared, so no other process would use the rounds.
    if (!this.#isShared) this.#rounds = rounds
    return rounds
  }

  /** Replaces the plan by an equal one in memory that the processes of a machine share. */
  replace(shared: Plan): void {
    this.#plan = shared
    this.#rounds = undefined
    this.#isShared = true
  }
}

/**
 * The plans that were made last, each retained as long as a communicator holds it. Processes of one address space that
 * were given the same topology object make a plan once.
 */
export class PlanCache {
  readonly #recent: RecentObjects<CachedPlan>

  constructor(capacity: number) {
    this.#recent = new RecentObjects(capacity)
  }

  /**
   * Returns the cached plan of this topology object, or makes and verifies one.
   *
   * @param nodeOf node of every rank
   */
  planFor(
    topology: ProcessTopology,
    strategy: Strategy,
    nodeOf: Int32Array,
    operation: NeighborOperation = 'neighbor-allgather',
  ): CachedPlan {
    const cached = this.find(topology, strategy, nodeOf, operation)
    if (cached !== undefined) return cached
    const made = verifiedPlan(topology, strategy, { nodeOf, operation })
    return this.adopt(topology, strategy, nodeOf, made, operation)
  }

  find(
    topology: ProcessTopology,
    strategy: Strategy,
    nodeOf: Int32Array,
    operation: NeighborOperation = 'neighbor-allgather',
  ): CachedPlan | undefined {
    const text = formatStrategy(strategy)
    return this.#recent.find(
      (made) =>
        made.operation === operation &&
        made.topology === topology &&
        made.strategy === text &&
        areEqual(made.nodeOf, nodeOf),
    )
  }

  adopt(
    topology: ProcessTopology,
    strategy: Strategy,
    nodeOf: Int32Array,
    made: Plan,
    operation: NeighborOperation = 'neighbor-allgather',
  ): CachedPlan {
    const text = formatStrategy(strategy)
    return this.#recent.add(new CachedPlan(operation, topology, text, nodeOf, made))
  }
}

function areEqual(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i])
}
