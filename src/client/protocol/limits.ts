import { integerOption, type NamedOptions } from '../../base/option.js'
import { withDefaults } from '../../base/option-table.js'

/** The longest delay of JavaScript timers, in milliseconds; longer ones would be over at once. */
const mostMs = 2 ** 31 - 1

/**
 * The limits of one service; each is checked before memory is taken. Beyond its bound a limit would not hold, because
 * another resource is exhausted first.
 */
export const serviceLimits = {
  /** The bytes of an uploaded topology, as sent. */
  uploadBytes: integerOption({ least: 1, most: 2 ** 40, default: 2 ** 26 }),
  /** The bytes that a compressed upload may expand to. */
  expandedBytes: integerOption({ least: 1, most: 2 ** 40, default: 2 ** 29 }),
  /** The bytes of the body of any other request. */
  requestBytes: integerOption({ least: 1, most: 2 ** 26, default: 2 ** 16 }),
  /** The ranks of a topology, and the cores of the machine of a plan. */
  ranks: integerOption({ least: 1, most: 2 ** 24, default: 2 ** 20 }),
  /** The edges of a topology. */
  edges: integerOption({ least: 1, most: 2 ** 27, default: 2 ** 24 }),
  /** The megabytes of the heap of a planning thread, beyond which its job fails. */
  jobHeapMb: integerOption({ least: 1, most: 2 ** 20, default: 2048 }),
  /** The megabytes of arrays of a planning thread, polled while it plans. */
  jobArraysMb: integerOption({ least: 1, most: 2 ** 20, default: 2048 }),
  /**
   * The seconds that a job, an upload or other work may run, each time it is started. Work that yields its thread to
   * another tenant is started a second time.
   */
  jobSeconds: integerOption({ least: 1, most: Math.floor(mostMs / 1000), default: 600 }),
  /**
   * The threads that plan, and one more for a long job while tenants wait; by default also at most one less than there
   * are cores.
   */
  workers: integerOption({ least: 1, most: 1024, default: 2 }),
  /** The waiting jobs of a tenant. */
  queuedJobs: integerOption({ least: 1, most: 2 ** 20, default: 1024 }),
  /** The jobs of a tenant that are remembered after they have ended. */
  endedJobs: integerOption({ least: 1, most: 2 ** 20, default: 1024 }),
  /** The other work of a tenant (simulations, views, reports) that waits, and its uploads at a time. */
  queuedTasks: integerOption({ least: 1, most: 2 ** 16, default: 64 }),
  /** The bytes of a simulation, an export or a view; at most the longest string. */
  answerBytes: integerOption({ least: 1, most: 2 ** 29 - 24, default: 2 ** 28 }),
  /** The bytes below `--data`, of all tenants. */
  dataBytes: integerOption({ least: 1, default: 2 ** 33 }),
  /** The topologies and plans of all tenants. */
  entries: integerOption({ least: 1, most: 2 ** 23, default: 2 ** 16 }),
  /** The connections of all kinds. */
  connections: integerOption({ least: 1, most: 2 ** 20, default: 4096 }),
  /** The connections of one address, of IPv6 one network of 64 bits; loopback is exempt. */
  addressConnections: integerOption({ least: 1, most: 2 ** 20, default: 1024 }),
  /** The requests of a connection that have arrived and whose answers have not been read; a further one ends it. */
  connectionRequests: integerOption({ least: 1, most: 2 ** 16, default: 64 }),
  /** The bytes of answers to a tenant that its clients have not read; one answer may be longer. */
  unreadBytes: integerOption({ least: 1, most: 2 ** 40, default: 2 ** 28 }),
  /** The streams of events of a tenant. */
  eventStreams: integerOption({ least: 1, most: 2 ** 20, default: 256 }),
  /** The milliseconds within which a request must have arrived completely. */
  requestMs: integerOption({ least: 1, most: mostMs, default: 60_000 }),
  /** The bytes of one WebSocket message to `/v1/worlds`. */
  messageBytes: integerOption({ least: 1, most: 2 ** 26, default: 2 ** 16 }),
  /** The milliseconds between pings of WebSockets of members; one that has not answered the last is ended. */
  pingMs: integerOption({ least: 1, most: mostMs, default: 15_000 }),
  /** The running worlds of a tenant, of members and of programs each. */
  worlds: integerOption({ least: 1, most: 2 ** 20, default: 256 }),
  /** The members of a world, at most 4,096; the processes of a world of programs, at most 1,024. */
  members: integerOption({ least: 1, most: 4096, default: 1024 }),
  /** The calls of a member that wait for an answer. */
  callsInFlight: integerOption({ least: 1, most: 2 ** 16, default: 64 }),
} satisfies NamedOptions

export type ServiceLimits = { readonly [Name in keyof typeof serviceLimits]: number }

export const defaultServiceLimits: ServiceLimits = withDefaults(serviceLimits, {} as Partial<ServiceLimits>)
