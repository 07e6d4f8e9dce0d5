/** What holds for the sockets and worlds of a service; each is checked before memory is taken. */
export interface WorldServiceLimits {
  /** Sockets of all tenants. */
  readonly maxSockets: number
  /** Sockets of a tenant: fewer than all, so that one does not shut out the others. */
  readonly maxTenantSockets: number
  /**
   * Sockets whose `hello` has not arrived: by default half of all, so that 2,000 may connect at once and
   * those that have are not shut out.
   */
  readonly maxPendingSockets: number
  /** Milliseconds that a socket may take for `hello`. */
  readonly firstMessageMs: number
  /** Worlds of a tenant, those included that wait for members. */
  readonly maxWorlds: number
  /** Members of a world, at most {@link mostMembers}. */
  readonly maxMembers: number
  /** Communicators of a member, the world included. */
  readonly maxCommunicators: number
  /** Calls of a socket that wait for their reply, beyond which it makes no collective ones. */
  readonly maxCallsInFlight: number
  /** Bytes of a message to the service; as long as this in UTF-16 units. */
  readonly maxMessageBytes: number
  /** Messages per second of a socket. */
  readonly maxMessagesPerSecond: number
  /** Bytes for a socket that the network has not taken: beyond them its member is lost. */
  readonly maxBufferedBytes: number
  /** Milliseconds between two messages to a socket that watches. */
  readonly watchMs: number
}

export const defaultWorldServiceLimits: WorldServiceLimits = {
  maxSockets: 4_096,
  maxTenantSockets: 3_072,
  maxPendingSockets: 2_048,
  firstMessageMs: 10_000,
  maxWorlds: 256,
  maxMembers: 1_024,
  maxCommunicators: 256,
  maxCallsInFlight: 64,
  maxMessageBytes: 2 ** 16,
  maxMessagesPerSecond: 10_000,
  maxBufferedBytes: 2 ** 22,
  watchMs: 250,
}

/** What each holds for, as a client reads it. */
export const worldLimitMeanings: Readonly<Record<keyof WorldServiceLimits, string>> = {
  maxSockets: 'sockets of all tokens; beyond: closed',
  maxTenantSockets: 'sockets of a token; beyond: closed',
  maxPendingSockets: 'sockets whose `hello` has not arrived; beyond: closed',
  firstMessageMs: 'milliseconds that a socket may take for `hello`; then it is closed',
  maxWorlds: 'worlds of a token, those included that wait; beyond: `ERR_LIMIT`',
  maxMembers: 'members of a world; beyond: `ERR_LIMIT`',
  maxCommunicators: 'communicators of a member, `world` included; beyond: `ERR_LIMIT`',
  maxCallsInFlight:
    'requests of a socket that have no reply yet; beyond: `ERR_LIMIT` for those that are collective',
  maxMessageBytes: 'bytes of a message to the service; a longer one closes the socket with code 1009',
  maxMessagesPerSecond: 'messages per second of a socket; beyond: closed',
  maxBufferedBytes: 'bytes that a client has not read; beyond: closed without a word',
  watchMs: 'milliseconds between two events of one world for those who watch',
}

/** Members that a world can have, whatever a service grants: logical processes of one fabric. */
export const mostMembers = 4_096
/** Members and programs of a world that has both: processes of one rendezvous. */
export const mostMixed = 1_024

/** Version of the protocol, said in `hello`. */
export const worldProtocolVersion = 1
/** Arrays and objects of a message are nested at most so deep. */
export const maxMessageDepth = 4
/** Ranks that one message may list. */
export const maxListedRanks = 4_096
