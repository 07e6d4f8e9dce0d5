import type { ListQuery } from '../../client/protocol/http.js'
import { RankweaveError } from '../../errors.js'
import type { PlanRecord, TopologyRecord } from '../store/database.js'
import type { Store, Stored } from '../store/store.js'
import type { Tenant } from '../tenant.js'

interface Kinds {
  readonly plans: PlanRecord
  readonly topologies: TopologyRecord
}

const nouns = { plans: 'plan', topologies: 'topology' } as const

export function notFound(shelf: keyof Kinds, id: string): RankweaveError {
  return new RankweaveError('ERR_NOT_FOUND', `there is no ${nouns[shelf]} ${id}`)
}

/**
 * Reads a stored entry, its body verified.
 *
 * @throws ERR_NOT_FOUND if it is missing, or is removed while it is read; what reading throws
 */
export async function readStored<S extends keyof Kinds, T>(
  store: Store,
  shelf: S,
  tenant: Tenant,
  id: string,
  read: (stored: Stored<Kinds[S]>) => Promise<T>,
): Promise<T> {
  const stored = (await store.verified(shelf, tenant, id)) as Stored<Kinds[S]> | undefined
  if (stored === undefined) throw notFound(shelf, id)
  try {
    return await read(stored)
  } catch (error) {
    if (store.get(shelf, tenant, id) === undefined) throw notFound(shelf, id)
    throw error
  }
}

interface Listed {
  readonly id: string
  /** The time in UTC, as ISO 8601. */
  readonly createdAt: string
}

/** The characters of JSON with which a page ends. */
const mostCharacters = 2 ** 20

/**
 * Returns a page of a list: at most `limit` records, and none after those that have 2^20 characters together.
 *
 * @param all in the order of their age
 * @param query `after`: where the page before ended. A record that was removed meanwhile does no harm
 * @returns `next`: where the next page begins; null after the last record
 */
export function listPage<T extends Listed>(
  all: readonly T[],
  { limit, after }: ListQuery,
): { readonly page: readonly T[]; readonly next: string | null } {
  const first = after === undefined ? 0 : firstAfter(all, after)
  let end = first
  for (let length = 0; end < all.length && end - first < limit && length < mostCharacters; end++)
    length += JSON.stringify(all[end]).length
  return { page: all.slice(first, end), next: end < all.length ? placeOf(all[end - 1]) : null }
}

const placeOf = ({ createdAt, id }: Listed) => `${createdAt}.${id}`

function firstAfter(all: readonly Listed[], place: string): number {
  const split = place.lastIndexOf('.')
  const [time, id] = [place.slice(0, split), place.slice(split + 1)]
  const at = all.findIndex((one) => one.id === id)
  if (at >= 0) return at + 1
  const later = all.findIndex(({ createdAt }) => createdAt >= time)
  return later < 0 ? all.length : later
}
