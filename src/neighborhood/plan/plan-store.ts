import { isRankweaveError, RankweaveError, shown } from '../../errors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { Plan, Strategy } from '../strategies/strategy.js'
import { decodePlan, encodePlan, planKey } from './plan-file.js'

/** A store that retains plans between programs. A store that rejects counts as empty. */
export interface PlanStore {
  /** Returns the bytes written under a key, or null. */
  read(key: string): Promise<Uint8Array | null>
  /** Writes bytes. A later `read` of the key gets these bytes or none. */
  write(key: string, bytes: Uint8Array): Promise<void>
  /** Receives the reason why a plan that was read is not used, or why the store failed (ERR_PLAN_CACHE). */
  onProblem?(error: Error): void
}

export interface StoredPlan {
  readonly plan: Plan
  readonly isFromStore: boolean
}

/**
 * Returns the stored plan of a topology, verified; or one that `make` makes, and stores it.
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
  const bytes = await storedBytes(store, key)
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

export async function storePlan(
  store: PlanStore,
  topology: ProcessTopology,
  strategy: Strategy,
  nodeOf: Int32Array | null,
  made: Plan,
): Promise<void> {
  const key = planKey(topology, strategy, nodeOf)
  try {
    await store.write(key, encodePlan(key, made))
  } catch (error) {
    failed(store, error)
  }
}

async function storedBytes(store: PlanStore, key: string): Promise<Uint8Array | null> {
  try {
    const bytes: unknown = await store.read(key)
    if (bytes === null || bytes instanceof Uint8Array) return bytes
    throw new Error(`expected a Uint8Array or null of read, got ${shown(bytes)}`)
  } catch (error) {
    failed(store, error)
    return null
  }
}

function failed(store: PlanStore, cause: unknown): void {
  const reason = cause instanceof Error ? cause.message : String(cause)
  store.onProblem?.(new RankweaveError('ERR_PLAN_CACHE', `the store of plans failed: ${reason}`, { cause }))
}
