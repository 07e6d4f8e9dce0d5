/** Version of the protocol; a rendezvous serves one. */
export const protocolVersion = 2

/** Shorter, a process that the operating system does not run for a moment would be lost. */
export const shortestSilenceMs = 100

/** What holds for one world. The rendezvous sends it to every member. */
export interface WorldLimits {
  /** Longest message on a data socket, and longest relayed message, in bytes. */
  readonly maxMessageBytes: number
  /** What a process may have queued for one peer before it has connected, in bytes. */
  readonly maxQueuedBytes: number
  /**
   * What one process may have in flight through the rendezvous, in bytes; its socket is closed when it has
   * more.
   */
  readonly maxRelayedBytes: number
  /** Interval of heartbeats, in milliseconds. */
  readonly heartbeatMs: number
  /**
   * A process that has been silent for so long is lost, in milliseconds; noticed at most one heartbeat later.
   */
  readonly silenceMs: number
  /**
   * How long reports of broken links are collected before the rendezvous decides who is lost, in
   * milliseconds.
   */
  readonly verdictMs: number
}

export const defaultWorldLimits: WorldLimits = {
  maxMessageBytes: 2 ** 20,
  maxQueuedBytes: 2 ** 26,
  maxRelayedBytes: 2 ** 26,
  heartbeatMs: 5_000,
  silenceMs: 30_000,
  verdictMs: 250,
}

/** What holds for a rendezvous as a whole. */
export interface RendezvousLimits {
  readonly maxWorlds: number
  /** Processes of one world. */
  readonly maxProcesses: number
  /** Sockets, whatever they are for. */
  readonly maxSockets: number
  /** Sockets whose first message has not arrived. */
  readonly maxPendingSockets: number
  /** Of these, from one address other than loopback: IPv4, or the first 64 bits of IPv6. */
  readonly maxPendingPerAddress: number
  /** How long a socket may take for its first message, in milliseconds. */
  readonly firstMessageMs: number
  /** Messages per second of a process that waits for its world to be complete. */
  readonly maxWaitingMessages: number
  /** Control messages per second of a member, relayed messages not counted. */
  readonly maxControlMessages: number
}

export const defaultRendezvousLimits: RendezvousLimits = {
  maxWorlds: 1_024,
  maxProcesses: 1_024,
  maxSockets: 8_192,
  maxPendingSockets: 256,
  maxPendingPerAddress: 64,
  firstMessageMs: 5_000,
  maxWaitingMessages: 200,
  maxControlMessages: 20_000,
}

/** Longest control message to the rendezvous, in UTF-16 units. */
export const maxControlLength = 2 ** 16
/** Longest control message to a member, in UTF-16 units: `welcome` names all members. */
export const maxWelcomeLength = 2 ** 20
/** Longest settings of a world, in UTF-16 units. */
export const maxSettingsLength = 2 ** 14
/** Arrays and objects of a control message are nested at most so deep. */
export const maxControlDepth = 4
