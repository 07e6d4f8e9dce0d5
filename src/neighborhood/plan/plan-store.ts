import { isRankweaveError, RankweaveError } from '../../errors.js'
import { verify } from '../../schedule/verify/verify.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { plan } from './plan.js'
import { decodePlan, encodePlan, planKey } from './plan-file.js'
import type { Plan, Strategy } from './strategy.js'

/** Where plans are retained between programs. Neither method rejects: a store that fails has nothing. */
export interface PlanStore {
  /** The bytes written under a key, or null. */
  read(key: string): Promise<Uint8Array | null>
  /** A later `read` of the key gets these bytes or none. */
  write(key: string, bytes: Uint8Array): Promise<void>
  /** Called with the reason why a plan that was read is not used (ERR_PLAN_CACHE). */
  onProblem?(error: Error): void
}

export interface StoredPlan {
  readonly plan: Plan
  readonly isFromStore: boolean
}

/**
 * The stored plan of a topology, verified; or one that `make` makes, which is then stored.
 *
 * @param nodeOf node of every rank, as for `plan`
 */
export async function storedPlan(
  store: PlanStore,
  topology: ProcessTopology,
  strategy: Strategy,
  nodeOf: Int32Array | null,
  make: () => Plan,
): Promise<StoredPlan> {
  const key = planKey(topology, strategy, nodeOf)
  const bytes = await store.read(key)
  try {
    if (bytes !== null) return { plan: decodePlan(bytes, key, topology), isFromStore: true }
  } catch (error) {
    if (!isRankweaveError(error)) throw error
    store.onProblem?.(error)
  }
  const made = make()
  await storePlan(store, topology, strategy, nodeOf, made)
  return { plan: made, isFromStore: false }
}

export function storePlan(
  store: PlanStore,
  topology: ProcessTopology,
  strategy: Strategy,
  nodeOf: Int32Array | null,
  made: Plan,
): Promise<void> {
  const key = planKey(topology, strategy, nodeOf)
  return store.write(key, encodePlan(key, made))
}

/** @throws ERR_STRATEGY, ERR_MACHINE as {@link plan}; ERR_SCHEDULE when it does not verify */
export function verifiedPlan(topology: ProcessTopology, strategy: Strategy, nodeOf: Int32Array): Plan {
  const made = plan(topology, strategy, { nodeOf })
  const { ok, violations } = verify(made.schedule)
  if (!ok) throw new RankweaveError('ERR_SCHEDULE', `the plan does not verify: ${violations[0]?.message}`)
  return made
}
