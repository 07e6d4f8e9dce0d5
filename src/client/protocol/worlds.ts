import * as z from 'zod'
import { maxListedRanks, mostMembers, mostMixed, worldProtocolVersion } from './limits.js'

// The messages of members of worlds to the service, and its replies, by kind: one JSON object per text message. Unknown
// fields are refused. The module is portable, because the client of browsers imports it.

const worldId = z
  .string()
  .regex(/^w-[0-9a-f]{16}$/, 'the id of a world, w- and 16 hexadecimal digits')
  .describe('id of the world')
const worldName = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, 'a name of 1 to 64 characters of A-Z, a-z, 0-9, ., _ and -')
  .describe('name of the world, unique among the worlds of one token')
const communicatorId = z
  .string()
  .regex(/^(?:world|[0-9]{1,8}\.[0-9]{1,10})$/, 'the id of a communicator, such as world or 0.1')
  .describe('id of a communicator, the same at all its ranks; `world` is that of all ranks')
const address = z
  .string()
  .max(512)
  .regex(/^[^\p{Cc}]*$/u, 'a text without control characters')
  .describe('where this member is reached, in whatever form the members agree on')
const members = z.int().min(1).max(mostMembers).describe('members of the world')
const programs = z
  .int()
  .min(1)
  .max(mostMixed - 1)
  .describe('processes of the world that run programs, besides its members')
const rank = z
  .int()
  .min(0)
  .max(2 ** 22)
const comm = communicatorId

/** The field of every message. */
const id = z.int().min(0).describe('number of the message, larger than that of any before on this socket')

function request<K extends string, S extends z.core.$ZodLooseShape>(kind: K, shape: S, description: string) {
  return z.strictObject({ id, kind: z.literal(kind), ...shape }).describe(description)
}

/** The requests to the service, by `kind`. */
export const worldRequests = {
  hello: request(
    'hello',
    {
      protocol: z.literal(worldProtocolVersion).describe('version of the protocol'),
      token: z.string().max(256).optional().describe('of the service; none where it has no tokens'),
    },
    'First message of a socket.',
  ),
  createWorld: request(
    'createWorld',
    { name: worldName.optional(), members, programs: programs.optional() },
    'Makes a world that waits for its members, without joining it. ' +
      `With \`programs\`, members and programs are at most ${mostMixed} together.`,
  ),
  join: request(
    'join',
    {
      world: worldId.optional(),
      name: worldName
        .optional()
        .describe('instead of `world`: its name; the world is made if there is none and `members` is given'),
      members: members.optional().describe('of the world'),
      address: address.optional(),
    },
    'This socket becomes a member of the world with this `world` or `name`. The event `begun` follows when all members have joined. `ERR_WORLD_FULL` when all had joined before, also if some have left.',
  ),
  leave: request(
    'leave',
    {},
    'Leaves the world, or stops waiting for it; the socket may join another one. Its pending calls complete if the others have taken part; those that make a communicator fail.',
  ),
  split: request(
    'split',
    {
      comm,
      color: z
        .int()
        .min(0)
        .max(2 ** 31 - 1)
        .nullable()
        .describe('ranks of one color form a communicator; null (MPI_UNDEFINED): this rank is in none'),
      key: z
        .int()
        .min(-(2 ** 31))
        .max(2 ** 31 - 1)
        .default(0)
        .describe('orders the ranks; ties by rank in `comm`'),
    },
    'Collective. A communicator per color (MPI_Comm_split).',
  ),
  dup: request('dup', { comm }, 'Collective. The same ranks, with messages of their own (MPI_Comm_dup).'),
  create: request(
    'create',
    {
      comm,
      ranks: z
        .array(rank)
        .max(maxListedRanks)
        .describe('of `comm`, distinct, in the new order; without this rank: it is in none'),
    },
    'Collective. A communicator of the ranks listed, each of which lists the same; several lists without a common rank make one each (MPI_Comm_create).',
  ),
  free: request(
    'free',
    { comm },
    'Collective, but local if a rank is lost, or after `revoke`. This member can no longer use the communicator; pending calls, and communicators made of it, continue (MPI_Comm_free). `world` is not freed: `leave`.',
  ),
  barrier: request('barrier', { comm }, 'Collective. The reply comes when all ranks have called it.'),
  translate: request(
    'translate',
    {
      comm,
      ranks: z.array(rank).max(maxListedRanks).describe('of `comm`'),
      to: comm.default('world').describe('another communicator of this member'),
    },
    'Local. Ranks of one communicator as ranks of another one (MPI_Group_translate_ranks).',
  ),
  publish: request(
    'publish',
    { address: address.describe('as in `join`') },
    'Replaces the address of this member that `lookup` returns.',
  ),
  lookup: request(
    'lookup',
    { comm, rank: rank.describe('of `comm`') },
    'Local. The address that a rank, even a lost one, has published or said in `join`.',
  ),
  failed: request(
    'failed',
    { comm },
    'Local. Ranks that are lost, or have left a world without programs, ascending (MPIX_Comm_get_failed).',
  ),
  ackFailed: request('ackFailed', { comm }, 'Local. Acknowledges all known losses (MPIX_Comm_ack_failed).'),
  revoke: request(
    'revoke',
    { comm },
    'Fails all calls of the communicator, at every rank, with `ERR_REVOKED`; except `agree`, `shrink`, `failed`, `ackFailed` and `free`.',
  ),
  agree: request(
    'agree',
    {
      comm,
      flag: z
        .int()
        .min(-(2 ** 31))
        .max(2 ** 31 - 1),
    },
    'Collective of the survivors: the bitwise AND of their flags (MPIX_Comm_agree). `ERR_PEER_LOST` if a loss was not acknowledged; its `details.flag` is the agreed value.',
  ),
  shrink: request(
    'shrink',
    { comm },
    'Collective of the survivors: their communicator, in the same order (MPIX_Comm_shrink).',
  ),
  describe: request('describe', { comm }, 'Local. What a communicator is, and what it costs the service.'),
  watch: request(
    'watch',
    {},
    'All worlds of the token now, and from then on the events `world` and `worldEnded`. The reply, like each event, lists at most 512 communicators and 16,384 ranks.',
  ),
} as const

const place = {
  comm: communicatorId.nullable().describe('null: this member is in none'),
  rank: rank.nullable().describe('of this member in it'),
  size: z.int().min(1).nullable().describe('number of its ranks'),
}

const worldRank = z.int().min(0).describe('rank in the world')
const operation = z
  .enum(['world', 'split', 'dup', 'create', 'shrink'])
  .describe('that made it; `world`: it was there from the beginning')

/** A communicator that members of a world hold. */
const communicator = z
  .strictObject({
    id: communicatorId.describe('as `comm`'),
    parent: communicatorId
      .nullable()
      .describe('it was made of this one, or of a freed one below it; null: of none'),
    operation,
    color: z.int().nullable().describe('of the split that made it'),
    size: z.int().min(1),
    worldRanks: z
      .array(worldRank)
      .nullable()
      .describe('members that hold it, by rank in it; null where the message would be too long'),
  })
  .meta({ title: 'communicator' })

/** The state of a world as watchers see it. */
export const worldInfo = z
  .strictObject({
    id: worldId,
    name: worldName.nullable().describe('if it has one'),
    state: z.enum(['waiting', 'running']),
    createdAt: z.iso.datetime(),
    members: z.int().min(1).describe('that it has, or waits for'),
    programs: z.int().min(0).describe('processes that run programs, besides the members'),
    joined: z.int().min(0).describe('members so far; of a world that runs, all'),
    left: z.array(worldRank).describe('members that have left, by rank in the world'),
    lost: z.array(worldRank).describe('members and programs that are lost, by rank in the world'),
    communicators: z.array(communicator),
    hidden: z.int().min(0).describe('communicators beyond those listed'),
  })
  .meta({ title: 'world' })

const nothing = z.strictObject({})

/** The replies of the service, by the kind of the request; the message also holds `reply`, the `id` of the request. */
export const worldReplies = {
  hello: z.strictObject({
    version: z.string().describe('version of Rankweave'),
    limits: z.record(z.string(), z.number()).describe('of this service, by the names of [Limits](#limits)'),
  }),
  createWorld: z.strictObject({
    world: worldId,
    token: z.string().optional().describe('with which programs join; where there are `programs`'),
  }),
  join: z.strictObject({
    world: worldId,
    joined: z.int().describe('members so far, this one included'),
    members: z.int().describe('that it waits for, or has'),
  }),
  leave: nothing,
  split: z.strictObject(place),
  dup: z.strictObject(place),
  create: z.strictObject(place),
  free: nothing,
  barrier: nothing,
  translate: z.strictObject({ ranks: z.array(rank.nullable()).describe('null: not in that communicator') }),
  publish: nothing,
  lookup: z.strictObject({ worldRank, address: address.nullable().describe('null: none published') }),
  failed: z.strictObject({ ranks: z.array(rank).describe('of `comm`') }),
  ackFailed: z.strictObject({ acknowledged: z.int().describe('lost ranks of `comm` acknowledged so far') }),
  revoke: nothing,
  agree: z.strictObject({ flag: z.int().describe('the same at all survivors') }),
  shrink: z.strictObject(place),
  describe: z.strictObject({
    comm: communicatorId,
    parent: communicatorId.nullable().describe('null: of none'),
    operation,
    rank,
    size: z.int().min(1),
    retainedBytes: z.int().describe('memory of the service for it, for this member'),
  }),
  watch: z.strictObject({ worlds: z.array(worldInfo) }),
} as const satisfies Record<WorldKind, z.ZodType>

export type WorldKind = keyof typeof worldRequests
/** A request after defaults. */
export type WorldRequest<K extends WorldKind = WorldKind> = {
  [Kind in K]: z.output<(typeof worldRequests)[Kind]>
}[K]
/** A request as a client may write it. */
export type WorldRequestInput<K extends WorldKind = WorldKind> = {
  [Kind in K]: z.input<(typeof worldRequests)[Kind]>
}[K]
export type WorldReply<K extends WorldKind = WorldKind> = {
  [Kind in K]: z.output<(typeof worldReplies)[Kind]>
}[K]
export type WorldInfo = z.output<typeof worldInfo>

/** The reason why a call failed. */
export const callError = z
  .strictObject({
    code: z
      .string()
      .regex(/^ERR_[A-Z_]+$/)
      .describe('one of the codes in the documentation of errors'),
    message: z.string().describe('for people'),
    details: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
      .describe('for programs: `process`, the lost rank in the world; `flag`, of `agree`; others'),
  })
  .meta({ title: 'error' })

const eventRank = z.int().min(0)

/** The messages that the service sends at any time, by `event`. */
export const worldEvents = {
  begun: z
    .strictObject({
      event: z.literal('begun'),
      world: worldId,
      rank: eventRank.describe('of this member in the world'),
      size: z.int().min(1).describe('ranks of the world, those of programs included'),
      comm: communicatorId,
    })
    .describe('All members have joined. Calls are permitted from here on.'),
  member: z
    .strictObject({
      event: z.literal('member'),
      world: worldId,
      rank: eventRank.describe('in the world'),
      state: z.enum(['left', 'lost']),
      reason: z.string().describe('for people'),
    })
    .describe('Another member of the world has left, or is lost; or a program is lost.'),
  ended: z
    .strictObject({ event: z.literal('ended'), world: worldId, error: callError })
    .describe('The world has ended with this error before this member left.'),
  refused: z
    .strictObject({
      event: z.literal('refused'),
      id: z.int().nullable().describe('of that message; null if unreadable'),
      error: callError,
    })
    .describe(
      'A message could not be read, or had an `id` that is not larger than all before: nothing was done. The socket may be closed next, for the same reason.',
    ),
  world: z
    .strictObject({ event: z.literal('world'), world: worldInfo })
    .describe('To watchers: a world is new, or has changed; at most once per `watchMs` for each.'),
  worldEnded: z
    .strictObject({ event: z.literal('worldEnded'), world: worldId })
    .describe('To watchers: a world has gone.'),
} as const

export type WorldEventKind = keyof typeof worldEvents
export type WorldEvent<K extends WorldEventKind = WorldEventKind> = {
  [Kind in K]: z.output<(typeof worldEvents)[Kind]>
}[K]
export type CallError = z.output<typeof callError>

/** A client's request for a world of programs that join it by `rankweave join`. */
export const mountedWorldRequest = z
  .strictObject({
    ranks: z
      .int()
      .min(1)
      .max(2 ** 22),
    processes: z
      .int()
      .min(1)
      .max(1024)
      .optional()
      .describe('that are to join; ranks are distributed evenly. Default: one per rank'),
    program: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'a SHA-256, 64 hexadecimal digits')
      .optional()
      .describe('SHA-256 of the file that processes must run. Default: that of the first'),
  })
  .describe('a world whose processes run programs of Rankweave')

export const mountedWorldId = z
  .string()
  .regex(/^[0-9a-f]{16}$/, 'the id of a world, 16 hexadecimal digits')
  .describe('names a world; it is the beginning of its token')

const text = z.string()

export const mountedWorldInfo = z.strictObject({
  id: mountedWorldId,
  ranks: z.int(),
  processes: z.int(),
  createdAt: z.iso.datetime().describe('when, in UTC'),
  ended: z
    .strictObject({
      lost: z.array(z.strictObject({ process: z.int(), reason: text })),
      failed: text.nullable(),
      closed: text.nullable(),
    })
    .nullable()
    .describe(
      'how it ended: processes `lost` (the first 64), what `failed`, why it was `closed`; null: it has not',
    ),
})

/** The answer to the request, the only one that contains the token. */
export const openedWorld = mountedWorldInfo.extend({
  token: text.describe('for `rankweave join`; any process that has it can join'),
})

export const mountedWorldList = z.strictObject({ worlds: z.array(mountedWorldInfo) })

export type MountedWorldRequest = z.infer<typeof mountedWorldRequest>
export type MountedWorldInfo = z.infer<typeof mountedWorldInfo>
export type OpenedWorld = z.infer<typeof openedWorld>
