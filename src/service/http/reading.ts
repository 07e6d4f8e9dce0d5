import { RankweaveError } from '../../errors.js'
import type { PlanRecord, TopologyRecord } from '../store/records.js'
import type { Store, Stored } from '../store/store.js'
import type { Tenant } from '../tenant.js'

interface Kinds {
  readonly plans: PlanRecord
  readonly topologies: TopologyRecord
}

const nouns = { plans: 'plan', topologies: 'topology' } as const

export function notThere(shelf: keyof Kinds, id: string): RankweaveError {
  return new RankweaveError('ERR_NOT_FOUND', `there is no ${nouns[shelf]} ${id}`)
}

/**
 * Reads a stored entry, its body verified.
 *
 * @throws ERR_NOT_FOUND if it is missing, or is removed while it is read; what reading throws
 */
export async function reading<S extends keyof Kinds, T>(
  store: Store,
  shelf: S,
  tenant: Tenant,
  id: string,
  read: (stored: Stored<Kinds[S]>) => Promise<T>,
): Promise<T> {
  const stored = (await store.verified(shelf, tenant, id)) as Stored<Kinds[S]> | undefined
  if (stored === undefined) throw notThere(shelf, id)
  try {
    return await read(stored)
  } catch (error) {
    if (store.get(shelf, tenant, id) === undefined) throw notThere(shelf, id)
    throw error
  }
}
