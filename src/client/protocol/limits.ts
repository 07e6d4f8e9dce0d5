import { integerOption, type OptionTable } from '../../base/option.js'
import { withDefaults } from '../../base/option-table.js'

/** What one service grants; each is checked before memory is taken for what exceeds it. */
export interface ServiceLimits {
  /** Bytes of an uploaded topology, as sent. Default 64 MiB. */
  readonly uploadBytes: number
  /** Bytes that a compressed upload may expand to. Default 512 MiB. */
  readonly expandedBytes: number
  /** Bytes of the body of any other request. Default 64 KiB. */
  readonly requestBytes: number
  /** Ranks of a topology. Default 2^20. */
  readonly ranks: number
  /** Edges of a topology. Default 2^24. */
  readonly edges: number
  /** Megabytes of the heap of a planning thread, beyond which its job fails. Default 2,048. */
  readonly jobHeapMb: number
  /** Megabytes of arrays of a planning thread, looked at while it plans. Default 2,048. */
  readonly jobArraysMb: number
  /** Threads that plan. Default 2, or one less than there are cores. */
  readonly workers: number
  /** Jobs of a tenant that wait. Default 1,024. */
  readonly queuedJobs: number
  /** Jobs of a tenant that are remembered after they have ended. Default 1,024. */
  readonly endedJobs: number
  /**
   * Other work of a tenant (simulations, views, reports) that waits, and uploads of it at a time. Default 64.
   */
  readonly queuedTasks: number
  /** Bytes that a simulation, an export or a view may have. Default 256 MiB. */
  readonly answerBytes: number
  /** Bytes below `--data`, of all tenants. Default 8 GiB. */
  readonly dataBytes: number
  /** Topologies and plans, of all tenants. Default 2^16. */
  readonly entries: number
  /** Connections of all kinds. Default 4,096. */
  readonly connections: number
  /** Streams of events of a tenant. Default 256. */
  readonly eventStreams: number
  /** Milliseconds in which a request must have arrived completely. Default 60,000. */
  readonly requestMs: number
  /** Bytes of one WebSocket message to `/v1/worlds`. Default 64 KiB. */
  readonly messageBytes: number
  /**
   * Milliseconds between pings of WebSockets of members; one that has not answered the last is ended. Default
   * 15,000.
   */
  readonly pingMs: number
  /** Running worlds of a tenant, of members and of programs each. Default 256. */
  readonly worlds: number
  /** Members of a world, at most 4,096; processes of a world of programs, at most 1,024. Default 1,024. */
  readonly members: number
  /** Calls of a member that wait for an answer. Default 64. */
  readonly callsInFlight: number
}

/** The longest that timers of JavaScript can take; longer ones would be over at once. */
const mostMs = 2 ** 31 - 1

/** Beyond its bound a limit would not hold, as something else gives out first. */
export const serviceLimits = {
  uploadBytes: integerOption({ least: 1, most: 2 ** 40, default: 2 ** 26 }),
  expandedBytes: integerOption({ least: 1, most: 2 ** 40, default: 2 ** 29 }),
  requestBytes: integerOption({ least: 1, most: 2 ** 26, default: 2 ** 16 }),
  ranks: integerOption({ least: 1, most: 2 ** 24, default: 2 ** 20 }),
  edges: integerOption({ least: 1, most: 2 ** 27, default: 2 ** 24 }),
  jobHeapMb: integerOption({ least: 1, most: 2 ** 20, default: 2048 }),
  jobArraysMb: integerOption({ least: 1, most: 2 ** 20, default: 2048 }),
  workers: integerOption({ least: 1, most: 1024, default: 2 }),
  queuedJobs: integerOption({ least: 1, most: 2 ** 20, default: 1024 }),
  endedJobs: integerOption({ least: 1, most: 2 ** 20, default: 1024 }),
  queuedTasks: integerOption({ least: 1, most: 2 ** 16, default: 64 }),
  // The longest string.
  answerBytes: integerOption({ least: 1, most: 2 ** 29 - 24, default: 2 ** 28 }),
  dataBytes: integerOption({ least: 1, default: 2 ** 33 }),
  entries: integerOption({ least: 1, most: 2 ** 23, default: 2 ** 16 }),
  connections: integerOption({ least: 1, most: 2 ** 20, default: 4096 }),
  eventStreams: integerOption({ least: 1, most: 2 ** 20, default: 256 }),
  requestMs: integerOption({ least: 1, most: mostMs, default: 60_000 }),
  messageBytes: integerOption({ least: 1, most: 2 ** 26, default: 2 ** 16 }),
  pingMs: integerOption({ least: 1, most: mostMs, default: 15_000 }),
  worlds: integerOption({ least: 1, most: 2 ** 20, default: 256 }),
  members: integerOption({ least: 1, most: 4096, default: 1024 }),
  callsInFlight: integerOption({ least: 1, most: 2 ** 16, default: 64 }),
} satisfies OptionTable<ServiceLimits>

export const defaultServiceLimits: ServiceLimits = withDefaults(serviceLimits, {} as Partial<ServiceLimits>)
