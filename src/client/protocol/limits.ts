import { integerOption, type NamedOptions } from '../../base/option.js'
import { withDefaults } from '../../base/option-table.js'

/** The longest delay of JavaScript timers, in milliseconds; longer ones would be over at once. */
const mostMs = 2 ** 31 - 1

/**
 * The limits of one service; each is checked before memory is taken. Beyond its bound a limit would not hold, because
 * another resource is exhausted first.
 */
export const serviceLimits = {
  uploadBytes: integerOption({
    least: 1,
    most: 2 ** 40,
    default: 2 ** 26,
    help: 'bytes of an uploaded topology, as sent',
  }),
  expandedBytes: integerOption({
    least: 1,
    most: 2 ** 40,
    default: 2 ** 29,
    help: 'bytes that a compressed upload may expand to',
  }),
  requestBytes: integerOption({
    least: 1,
    most: 2 ** 26,
    default: 2 ** 16,
    help: 'bytes of the body of any other request',
  }),
  ranks: integerOption({
    least: 1,
    most: 2 ** 24,
    default: 2 ** 20,
    help: 'ranks of a topology, and the cores of the machine of a plan',
  }),
  edges: integerOption({ least: 1, most: 2 ** 27, default: 2 ** 24, help: 'edges of a topology' }),
  jobHeapMb: integerOption({
    least: 1,
    most: 2 ** 20,
    default: 2048,
    help: 'megabytes of the heap of a planning thread, beyond which its job fails',
  }),
  jobArraysMb: integerOption({
    least: 1,
    most: 2 ** 20,
    default: 2048,
    help: 'megabytes of arrays of a planning thread, polled while it plans',
  }),
  jobSeconds: integerOption({
    least: 1,
    most: Math.floor(mostMs / 1000),
    default: 600,
    help: 'seconds of a job, an upload or other work, each time it is started',
  }),
  workers: integerOption({
    least: 1,
    most: 1024,
    default: 2,
    help: 'threads that plan, and one more for a long job while tenants wait; fewer on 1 or 2 cores',
  }),
  queuedJobs: integerOption({ least: 1, most: 2 ** 20, default: 1024, help: 'waiting jobs of a tenant' }),
  endedJobs: integerOption({
    least: 1,
    most: 2 ** 20,
    default: 1024,
    help: 'jobs of a tenant that have ended and are remembered',
  }),
  queuedTasks: integerOption({
    least: 1,
    most: 2 ** 16,
    default: 64,
    help: 'simulations, views and reports of a tenant that wait, and its uploads at a time',
  }),
  answerBytes: integerOption({
    least: 1,
    most: 2 ** 29 - 24,
    default: 2 ** 28,
    help: 'bytes of a simulation, an export or a view; at most the longest string',
  }),
  dataBytes: integerOption({ least: 1, default: 2 ** 33, help: 'bytes below `--data`, of all tenants' }),
  entries: integerOption({
    least: 1,
    most: 2 ** 23,
    default: 2 ** 16,
    help: 'topologies and plans of all tenants',
  }),
  connections: integerOption({ least: 1, most: 2 ** 20, default: 4096, help: 'connections of all kinds' }),
  addressConnections: integerOption({
    least: 1,
    most: 2 ** 20,
    default: 1024,
    help: 'those of one address or IPv6 network of 64 bits; loopback is exempt',
  }),
  connectionRequests: integerOption({
    least: 1,
    most: 2 ** 16,
    default: 64,
    help: 'requests of a connection whose answers are unread; beyond: it is closed',
  }),
  unreadBytes: integerOption({
    least: 1,
    most: 2 ** 40,
    default: 2 ** 28,
    help: 'unread bytes of answers to a tenant; one answer may be longer',
  }),
  eventStreams: integerOption({
    least: 1,
    most: 2 ** 20,
    default: 256,
    help: 'streams of events of a tenant',
  }),
  requestMs: integerOption({
    least: 1,
    most: mostMs,
    default: 60_000,
    help: 'milliseconds within which a request must arrive, and its answer be read',
  }),
  messageBytes: integerOption({
    least: 1,
    most: 2 ** 26,
    default: 2 ** 16,
    help: 'bytes of one WebSocket message to `/v1/worlds`',
  }),
  pingMs: integerOption({
    least: 1,
    most: mostMs,
    default: 15_000,
    help: 'milliseconds between pings of members',
  }),
  worlds: integerOption({
    least: 1,
    most: 2 ** 20,
    default: 256,
    help: 'running worlds of a tenant, of members and of programs each',
  }),
  members: integerOption({
    least: 1,
    most: 4096,
    default: 1024,
    help: 'members of a world, at most 4,096; the processes of a world of programs, at most 1,024',
  }),
  callsInFlight: integerOption({
    least: 1,
    most: 2 ** 16,
    default: 64,
    help: 'calls of a member that wait for an answer',
  }),
} satisfies NamedOptions

export type ServiceLimits = { readonly [Name in keyof typeof serviceLimits]: number }

export const defaultServiceLimits: ServiceLimits = withDefaults(serviceLimits, {} as Partial<ServiceLimits>)

const limit = (initial: number, help: string) => integerOption({ least: 1, default: initial, help })

/**
 * The limits of a service's sockets and worlds, as a client reads them; each is checked before memory is taken. A
 * tenant has fewer sockets than all, so that one does not shut out the others. Half of all sockets may wait for
 * `hello`, so 2,000 that connect at once leave room for those that have sent it.
 */
export const worldServiceLimits = {
  maxSockets: limit(4_096, 'sockets of all tokens. Set by `connections`'),
  maxTenantSockets: limit(3_072, 'sockets of a token'),
  maxPendingSockets: limit(2_048, 'sockets whose `hello` has not arrived'),
  firstMessageMs: limit(10_000, 'milliseconds that a socket may take for `hello`'),
  maxWorlds: limit(256, 'worlds of a token, also those that wait. Set by `worlds`'),
  maxMembers: limit(1_024, 'members of a world. Set by `members`'),
  maxCommunicators: limit(256, 'communicators of a member, `world` included'),
  maxCallsInFlight: limit(
    64,
    'requests of a socket without a reply; more collective ones are refused. Set by `callsInFlight`',
  ),
  maxMessageBytes: limit(
    2 ** 16,
    'bytes of a message to the service; beyond: code 1009. Set by `messageBytes`',
  ),
  maxMessagesPerSecond: limit(10_000, 'messages per second of a socket'),
  maxBufferedBytes: limit(2 ** 22, 'bytes that a client has not read; beyond: closed without a code'),
  maxUnreadBytes: limit(2 ** 28, 'the same of all clients; those with most are closed'),
  watchMs: limit(250, 'milliseconds between two events of one world'),
} satisfies NamedOptions

export type WorldServiceLimits = { readonly [Name in keyof typeof worldServiceLimits]: number }

export const defaultWorldServiceLimits: WorldServiceLimits = withDefaults(
  worldServiceLimits,
  {} as Partial<WorldServiceLimits>,
)

/** The most members of a world, whatever a service grants: logical processes of one fabric. */
export const mostMembers = 4_096
/** The most members and programs of a world that has both: processes of one rendezvous. */
export const mostMixed = 1_024

/** The version of the protocol, stated in `hello`. */
export const worldProtocolVersion = 1
/** The greatest depth to which arrays and objects of a message may be nested. */
export const maxMessageDepth = 4
/** The most ranks that one message may list. */
export const maxListedRanks = 4_096
