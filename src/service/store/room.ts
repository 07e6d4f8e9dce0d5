import type { ServiceLimits } from '../../client/protocol/limits.js'

/** Returns whether a job of a tenant that has not ended needs a topology. */
export type IsNeeded = (tenant: string, topology: string) => boolean

type Shelf = ReadonlyMap<string, { readonly bytes: number }>

/** The room that a tenant takes. Plans and topologies by id, the oldest first. */
export interface Taken {
  readonly shelves: { readonly plans: Shelf; readonly topologies: Shelf }
  readonly bytes: number
  /** The number of topologies and plans. */
  readonly files: number
}

export interface Dispensable {
  readonly shelf: 'plans' | 'topologies'
  readonly tenant: string
  readonly id: string
}

/**
 * Returns the files to remove so that a tenant can store one more. They are always of the tenant that takes most by
 * then: its oldest plan, then its oldest topology that is not needed. Tenants lose nothing if they take no more than
 * the asking one will: no tenant can displace what others have by storing much.
 *
 * @param excess bytes and files that there are too many
 * @returns null if the removable files do not suffice; then nothing need be removed
 */
export function dispensable(
  tenants: ReadonlyMap<string, Taken>,
  { dataBytes, entries }: Pick<ServiceLimits, 'dataBytes' | 'entries'>,
  asking: { readonly tenant: string; readonly bytes: number },
  excess: { readonly bytes: number; readonly files: number },
  isNeeded: IsNeeded,
): Dispensable[] | null {
  const givers = [...tenants].map(([tenant, { shelves, bytes, files }]) => {
    const isAsking = tenant === asking.tenant
    return {
      ...{ tenant, isAsking, going: going(tenant, shelves, isNeeded) },
      bytes: bytes + (isAsking ? asking.bytes : 0),
      files: files + (isAsking ? 1 : 0),
    }
  })
  const shareOf = ({ bytes, files }: { bytes: number; files: number }) =>
    Math.max(bytes / dataBytes, files / entries)
  const newcomer = shareOf({ bytes: asking.bytes, files: 1 })
  const found: Dispensable[] = []
  let { bytes, files } = excess
  while (bytes > 0 || files > 0) {
    const own = givers.find(({ isAsking }) => isAsking)
    const ownShare = own === undefined ? newcomer : shareOf(own)
    const most = givers
      .filter((giver) => giver.isAsking || shareOf(giver) > ownShare)
      .sort((a, b) => shareOf(b) - shareOf(a))
      .find(({ going }) => going.next !== undefined)
    if (most === undefined) return null
    const next = most.going.next!
    most.going.take()
    most.bytes -= next.bytes
    most.files--
    bytes -= next.bytes
    files--
    found.push({ shelf: next.shelf, tenant: most.tenant, id: next.id })
  }
  return found
}

/** Yields the files of a tenant that can be removed, one after the other. */
function going(tenant: string, { plans, topologies }: Taken['shelves'], isNeeded: IsNeeded) {
  function* all() {
    for (const [id, { bytes }] of plans) yield { shelf: 'plans' as const, id, bytes }
    for (const [id, { bytes }] of topologies)
      if (!isNeeded(tenant, id)) yield { shelf: 'topologies' as const, id, bytes }
  }
  const items = all()
  let next = items.next().value
  return {
    get next() {
      return next
    },
    take: () => {
      next = items.next().value
    },
  }
}
