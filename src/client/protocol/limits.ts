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

export const defaultServiceLimits: ServiceLimits = {
  uploadBytes: 2 ** 26,
  expandedBytes: 2 ** 29,
  requestBytes: 2 ** 16,
  ranks: 2 ** 20,
  edges: 2 ** 24,
  jobHeapMb: 2048,
  jobArraysMb: 2048,
  workers: 2,
  queuedJobs: 1024,
  endedJobs: 1024,
  queuedTasks: 64,
  answerBytes: 2 ** 28,
  dataBytes: 2 ** 33,
  entries: 2 ** 16,
  connections: 4096,
  eventStreams: 256,
  requestMs: 60_000,
  messageBytes: 2 ** 16,
  pingMs: 15_000,
  worlds: 256,
  members: 1024,
  callsInFlight: 64,
}

/** The longest that timers of JavaScript can take; longer ones would be over at once. */
const mostMs = 2 ** 31 - 1

/**
 * What a service can grant at most: beyond these a limit would not hold, as something else gives out first.
 */
export const mostServiceLimits: ServiceLimits = {
  uploadBytes: 2 ** 40,
  expandedBytes: 2 ** 40,
  requestBytes: 2 ** 26,
  ranks: 2 ** 24,
  edges: 2 ** 27,
  jobHeapMb: 2 ** 20,
  jobArraysMb: 2 ** 20,
  workers: 1024,
  queuedJobs: 2 ** 20,
  endedJobs: 2 ** 20,
  queuedTasks: 2 ** 16,
  // The longest string.
  answerBytes: 2 ** 29 - 24,
  dataBytes: Number.MAX_SAFE_INTEGER,
  entries: 2 ** 23,
  connections: 2 ** 20,
  eventStreams: 2 ** 20,
  requestMs: mostMs,
  messageBytes: 2 ** 26,
  pingMs: mostMs,
  worlds: 2 ** 20,
  members: 4096,
  callsInFlight: 2 ** 16,
}
