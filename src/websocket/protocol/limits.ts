/** The version of the protocol; a rendezvous serves one. */
export const protocolVersion = 2

/** The least silence: with less, a process that the operating system suspends for a moment would be lost. */
export const shortestSilenceMs = 100

/** The limits of one world, which the rendezvous sends to every member. */
export interface WorldLimits {
  /** The most bytes of a message on a data socket, and of a relayed message. */
  readonly maxMessageBytes: number
  /** The most bytes that a process may have queued for one peer before it has connected. */
  readonly maxQueuedBytes: number
  /** The most bytes that one process may have in flight through the rendezvous; beyond, its socket is closed. */
  readonly maxRelayedBytes: number
  /** The interval of heartbeats, in milliseconds. */
  readonly heartbeatMs: number
  /** The silence after which a process is lost, in milliseconds; noticed at most one heartbeat later. */
  readonly silenceMs: number
  /** The time for which the rendezvous collects reports of broken links before it decides, in milliseconds. */
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

/** The limits of a rendezvous as a whole. */
export interface RendezvousLimits {
  readonly maxWorlds: number
  /** The most processes of one world. */
  readonly maxProcesses: number
  /** The most sockets of all kinds. */
  readonly maxSockets: number
  /** The most sockets whose first message has not arrived. */
  readonly maxPendingSockets: number
  /** The most such sockets from one address other than loopback: IPv4, or the first 64 bits of IPv6. */
  readonly maxPendingPerAddress: number
  /** The time within which the first message of a socket must arrive, in milliseconds. */
  readonly firstMessageMs: number
  /** The most messages per second of a process that waits for its world to be complete. */
  readonly maxWaitingMessages: number
  /** The most control messages per second of a member, relayed messages not counted. */
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

/** The most UTF-16 units of a control message to the rendezvous. */
export const maxControlLength = 2 ** 16
/** The most UTF-16 units of a control message to a member: `welcome` names all members. */
export const maxWelcomeLength = 2 ** 20
/** The most UTF-16 units of the settings of a world. */
export const maxSettingsLength = 2 ** 14
/** The greatest depth to which arrays and objects of a control message may be nested. */
export const maxControlDepth = 4
