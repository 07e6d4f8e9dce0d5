import type { WorldKind, WorldReply, WorldRequest } from '../../client/protocol/worlds.js'
import { RankweaveError, shown } from '../../errors.js'
import type { ServedMember } from './served-member.js'

/** The requests that a member makes of its world. */
export type CallKind = Exclude<WorldKind, 'hello' | 'createWorld' | 'join' | 'leave' | 'watch'>

type Call<K extends CallKind> = (
  member: ServedMember,
  request: WorldRequest<K>,
) => WorldReply<K> | Promise<WorldReply<K>>

/**
 * The functions of requests. The library's call is made before the function returns, so calls start in the order of
 * messages.
 */
export const calls: { readonly [K in CallKind]: Call<K> } = {
  split: (member, { comm, color, key }) =>
    member.make(comm, 'split', color, (from) => from.split(color, key)),
  dup: (member, { comm }) => member.make(comm, 'dup', null, (from) => from.dup()),
  create: (member, { comm, ranks }) =>
    member.make(comm, 'create', null, (from) => from.create(from.seat().state.group.incl(ranks))),
  shrink: (member, { comm }) => member.make(comm, 'shrink', null, (from) => from.shrink()),
  free: async (member, { comm }) => {
    await member.take(comm).free()
    return {}
  },
  barrier: async (member, { comm }) => {
    await member.communicator(comm).barrier()
    return {}
  },
  translate: async (member, { comm, ranks, to }) => {
    const from = await member.communicator(comm).group()
    return { ranks: await from.translate(ranks, await member.communicator(to).group()) }
  },
  publish: (member, { address }) => {
    member.address = address
    return {}
  },
  lookup: async (member, { comm, rank }) => {
    const communicator = member.communicator(comm)
    if (rank >= communicator.size) {
      throw new RankweaveError(
        'ERR_RANK',
        `lookup: expected a rank below ${communicator.size}, got ${shown(rank)}`,
      )
    }
    const [worldRank] = await communicator.worldRanks([rank])
    return { worldRank: worldRank, address: member.world.addressOf(worldRank) }
  },
  failed: async (member, { comm }) => ({ ranks: [...(await member.communicator(comm).failed())] }),
  ackFailed: async (member, { comm }) => ({ acknowledged: await member.communicator(comm).ackFailed() }),
  revoke: async (member, { comm }) => {
    await member.communicator(comm).revoke()
    return {}
  },
  agree: async (member, { comm, flag }) => ({ flag: await member.communicator(comm).agree(flag) }),
  describe: (member, { comm }) => {
    const communicator = member.communicator(comm)
    const { rank, size } = communicator
    const retainedBytes = communicator.describe().retained.total
    return { comm, ...member.world.tree.parentOf(comm), rank, size, retainedBytes }
  },
}

const collective: ReadonlySet<WorldKind> = new Set<CallKind>([
  ...(['split', 'dup', 'create', 'free', 'barrier', 'agree', 'shrink'] as const),
])

/**
 * Returns whether a request completes only when others have made theirs. The rest, `revoke` and `leave` among it, is
 * never refused because too many calls wait.
 */
export function waitsForOthers(kind: WorldKind): boolean {
  return collective.has(kind)
}

/** Makes the call of a request. @throws what the call throws */
export async function call(member: ServedMember, request: WorldRequest<CallKind>): Promise<WorldReply> {
  // Each kind has its own function, which the type of the table states.
  return member.during(() => (calls[request.kind] as Call<CallKind>)(member, request))
}
