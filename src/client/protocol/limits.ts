import { integerOption, type NamedOptions } from '../../base/option.js'
import { withDefaults } from '../../base/option-table.js'

/** The longest that timers of JavaScript can take; longer ones would be over at once. */
const mostMs = 2 ** 31 - 1

/**
 * What one service grants; each is checked before memory is taken for what exceeds it. Beyond its bound a
 * limit would not hold, as something else gives out first.
 */
export const serviceLimits = {
  /** Bytes of an uploaded topology, as sent. */
  uploadBytes: integerOption({ least: 1, most: 2 ** 40, default: 2 ** 26 }),
  /** Bytes that a compressed upload may expand to. */
  expandedBytes: integerOption({ least: 1, most: 2 ** 40, default: 2 ** 29 }),
  /** Bytes of the body of any other request. */
  requestBytes: integerOption({ least: 1, most: 2 ** 26, default: 2 ** 16 }),
  /** Ranks of a topology, and cores of the machine of a plan. */
  ranks: integerOption({ least: 1, most: 2 ** 24, default: 2 ** 20 }),
  /** Edges of a topology. */
  edges: integerOption({ least: 1, most: 2 ** 27, default: 2 ** 24 }),
  /** Megabytes of the heap of a planning thread, beyond which its job fails. */
  jobHeapMb: integerOption({ least: 1, most: 2 ** 20, default: 2048 }),
  /** Megabytes of arrays of a planning thread, looked at while it plans. */
  jobArraysMb: integerOption({ least: 1, most: 2 ** 20, default: 2048 }),
  /**
   * Seconds that a job, an upload or other work may run, each time it is started; what gives up its thread to
   * another tenant is started a second time.
   */
  jobSeconds: integerOption({ least: 1, most: Math.floor(mostMs / 1000), default: 600 }),
  /** Threads that plan, and one more for a long job while tenants wait; by default also at most one less than there are cores. */
  workers: integerOption({ least: 1, most: 1024, default: 2 }),
  /** Jobs of a tenant that wait. */
  queuedJobs: integerOption({ least: 1, most: 2 ** 20, default: 1024 }),
  /** Jobs of a tenant that are remembered after they have ended. */
  endedJobs: integerOption({ least: 1, most: 2 ** 20, default: 1024 }),
  /** Other work of a tenant (simulations, views, reports) that waits, and uploads of it at a time. */
  queuedTasks: integerOption({ least: 1, most: 2 ** 16, default: 64 }),
  /** Bytes that a simulation, an export or a view may have; at most the longest string. */
  answerBytes: integerOption({ least: 1, most: 2 ** 29 - 24, default: 2 ** 28 }),
  /** Bytes below `--data`, of all tenants. */
  dataBytes: integerOption({ least: 1, default: 2 ** 33 }),
  /** Topologies and plans, of all tenants. */
  entries: integerOption({ least: 1, most: 2 ** 23, default: 2 ** 16 }),
  /** Connections of all kinds. */
  connections: integerOption({ least: 1, most: 2 ** 20, default: 4096 }),
  /** Connections of one address, of IPv6 one network of 64 bits; loopback is exempt. */
  addressConnections: integerOption({ least: 1, most: 2 ** 20, default: 1024 }),
  /** Requests of a connection that have arrived and whose answers have not been read; a further one ends it. */
  connectionRequests: integerOption({ least: 1, most: 2 ** 16, default: 64 }),
  /** Bytes of answers to a tenant that its clients have not read; one answer may be longer. */
  unreadBytes: integerOption({ least: 1, most: 2 ** 40, default: 2 ** 28 }),
  /** Streams of events of a tenant. */
  eventStreams: integerOption({ least: 1, most: 2 ** 20, default: 256 }),
  /** Milliseconds in which a request must have arrived completely. */
  requestMs: integerOption({ least: 1, most: mostMs, default: 60_000 }),
  /** Bytes of one WebSocket message to `/v1/worlds`. */
  messageBytes: integerOption({ least: 1, most: 2 ** 26, default: 2 ** 16 }),
  /** Milliseconds between pings of WebSockets of members; one that has not answered the last is ended. */
  pingMs: integerOption({ least: 1, most: mostMs, default: 15_000 }),
  /** Running worlds of a tenant, of members and of programs each. */
  worlds: integerOption({ least: 1, most: 2 ** 20, default: 256 }),
  /** Members of a world, at most 4,096; processes of a world of programs, at most 1,024. */
  members: integerOption({ least: 1, most: 4096, default: 1024 }),
  /** Calls of a member that wait for an answer. */
  callsInFlight: integerOption({ least: 1, most: 2 ** 16, default: 64 }),
} satisfies NamedOptions

export type ServiceLimits = { readonly [Name in keyof typeof serviceLimits]: number }

export const defaultServiceLimits: ServiceLimits = withDefaults(serviceLimits, {} as Partial<ServiceLimits>)
