import { integerOption, type NamedOptions } from '../../base/option.js'
import { withDefaults } from '../../base/option-table.js'

const limit = (initial: number, help: string) => integerOption({ least: 1, default: initial, help })

/**
 * The limits of a service's sockets and worlds, as a client reads them; each is checked before memory is taken. A
 * tenant has fewer sockets than all, so that one does not shut out the others. Half of all sockets may wait for
 * `hello`, so 2,000 that connect at once leave room for those that have sent it.
 */
export const worldServiceLimits = {
  maxSockets: limit(4_096, 'sockets of all tokens; beyond: closed'),
  maxTenantSockets: limit(3_072, 'sockets of a token; beyond: closed'),
  maxPendingSockets: limit(2_048, 'sockets whose `hello` has not arrived; beyond: closed'),
  firstMessageMs: limit(10_000, 'milliseconds that a socket may take for `hello`; then it is closed'),
  maxWorlds: limit(256, 'worlds of a token, those included that wait; beyond: `ERR_LIMIT`'),
  maxMembers: limit(1_024, 'members of a world; beyond: `ERR_LIMIT`'),
  maxCommunicators: limit(256, 'communicators of a member, `world` included; beyond: `ERR_LIMIT`'),
  maxCallsInFlight: limit(
    64,
    'requests of a socket that have no reply yet; beyond: `ERR_LIMIT` for those that are collective',
  ),
  maxMessageBytes: limit(
    2 ** 16,
    'bytes of a message to the service; a longer one closes the socket with code 1009',
  ),
  maxMessagesPerSecond: limit(10_000, 'messages per second of a socket; beyond: closed'),
  maxBufferedBytes: limit(2 ** 22, 'bytes that a client has not read; beyond: closed without a word'),
  maxUnreadBytes: limit(
    2 ** 28,
    'bytes that all clients together have not read; beyond: those with most are closed without a word',
  ),
  watchMs: limit(250, 'milliseconds between two events of one world for those who watch'),
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
