import * as z from 'zod'
import { jsonDepth } from '../../base/json-depth.js'
import { RankweaveError, shortened } from '../../errors.js'
import {
  maxControlDepth,
  maxControlLength,
  maxSettingsLength,
  maxWelcomeLength,
  protocolVersion,
} from './limits.js'
import { type RefusalCode, refusalNames } from './refusals.js'

// A control message is one JSON object per text message of the socket. Unknown members of an object are refused.

const process = z
  .int()
  .min(0)
  .max(2 ** 24)
  .describe('number of a process, 0-based')
const reason = z.string().max(500).describe('for people')
const secret = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('32 bytes in hexadecimal digits')
const world = z
  .string()
  .regex(/^[0-9a-f]{16}$/)
  .describe('id of the world, the first part of its token')
const version = z.literal(protocolVersion).describe('version of the protocol')
const contribution = z
  .string()
  .max(128)
  .regex(/^(?:[0-9a-f]{2})*$/)
  .describe('at most 64 bytes in hexadecimal digits')
const key = z.string().max(128).describe('names the decision, unique in the world')

/**
 * The causes of broken data connections, each with the code of the fault if the peer is to blame; all members learn it.
 */
export const breakCauses = {
  closed: null,
  silent: null,
  malformed: 'ERR_PROTOCOL',
  'too large': 'ERR_MESSAGE_TOO_LARGE',
  unread: 'ERR_LIMIT',
} as const satisfies Readonly<Record<string, RefusalCode | null>>

export type BreakCause = keyof typeof breakCauses

const beat = z.strictObject({ kind: z.literal('beat') })

/** The messages to the rendezvous, by `kind`. */
export const toRendezvous = {
  join: z
    .strictObject({
      kind: z.literal('join'),
      protocol: version,
      token: z.string().max(512).default('').describe('of the world, as `rankweave host` prints it'),
      nonce: z
        .string()
        .regex(/^[0-9a-f]{32}$/)
        .describe('16 random bytes in hexadecimal digits, new for every request'),
      program: z.string().min(1).max(128).describe('digest of the program'),
      library: z.string().min(1).max(64).describe('version of Rankweave'),
      tuning: z
        .string()
        .regex(/^[0-9a-f]{16}$/)
        .optional()
        .describe('checksum of the tuning file or of online tuning; absent: it has none'),
      node: z
        .string()
        .max(255)
        .regex(/^[^\p{C}"\\]+$/u)
        .describe('node label, printable'),
      process: process
        .nullable()
        .describe('the number asked for; null: whichever is free, by order of joining'),
      address: z
        .string()
        .max(512)
        .regex(/^wss?:\/\/[\x21\x23-\x5b\x5d-\x7e]+$/)
        .nullable()
        .describe('URL where other members dial this one; null: it cannot be dialled'),
    })
    .describe('First message of a member.'),
  heartbeat: z
    .strictObject({
      kind: z.literal('heartbeat'),
      protocol: version,
      world,
      process,
      secret: secret.describe('`heartbeatKey` of `welcome`'),
    })
    .describe(
      'First message of a socket that carries heartbeats only, so that they do not depend on the event loop of the program.',
    ),
  beat: beat.describe(
    'Sent every `heartbeatMs`, on the socket for heartbeats and on that of the member. Answered by `beat`.',
  ),
  leave: z
    .strictObject({
      kind: z.literal('leave'),
      failure: reason
        .optional()
        .describe('why its ranks have failed, for people; absent when they have returned'),
    })
    .describe('The member is done. Closing its socket is no loss from here on; the rendezvous closes it.'),
  broken: z
    .strictObject({
      kind: z.literal('broken'),
      process,
      cause: z
        .enum(Object.keys(breakCauses) as [BreakCause, ...BreakCause[]])
        .describe(
          '`closed`: by the network or the peer, or it cannot be made; `silent`: it carries nothing, although the peer answers `probe`; ' +
            'the others are faults of the peer: a malformed message, one that is too large, or it does not read',
        ),
      reason,
    })
    .describe('The data connection to a process broke, which is not known to be lost.'),
  probe: z
    .strictObject({ kind: z.literal('probe'), process })
    .describe(
      'Whether a process answers, from whose data connection nothing has come for `silenceMs`. It is passed on, unless that process has not answered the one before.',
    ),
  present: z
    .strictObject({ kind: z.literal('present'), process })
    .describe(
      'Answers `probe` of a process, after a ping on the data connection with it where this process can send one. It is passed on.',
    ),
  decide: z
    .strictObject({
      kind: z.literal('decide'),
      key,
      members: z
        .array(process)
        .min(1)
        .describe(
          'processes that contribute, ascending; all of the world in the decision `end`. Only contributions that name the same members are of one decision',
        ),
      contribution,
    })
    .describe('The contribution of this process to a decision.'),
} as const

/** The messages from the rendezvous, by `kind`. */
export const fromRendezvous = {
  waiting: z
    .strictObject({
      kind: z.literal('waiting'),
      joined: z.int(),
      processes: z.int(),
      heartbeatMs: z.number().min(10),
      silenceMs: z.number().min(10),
    })
    .describe('The member is accepted and waits for others. Sent once.'),
  welcome: z
    .strictObject({
      kind: z.literal('welcome'),
      world,
      process: process.describe('the number of this member'),
      nodes: z.array(z.string()).describe('node labels, by process'),
      addresses: z
        .array(z.string().nullable())
        .describe('where to dial each process; null: it is reached by relayed messages only'),
      peerKeys: z
        .array(secret.nullable())
        .describe(
          'by process: the key that this member shares with that one alone, for proofs on their data connection; null: they have none',
        ),
      heartbeatKey: secret.describe('of this member alone, for its socket for heartbeats'),
      limits: z
        .strictObject({
          maxMessageBytes: z.int(),
          maxQueuedBytes: z.int(),
          maxRelayedBytes: z.int(),
          heartbeatMs: z.number(),
          silenceMs: z.number(),
          verdictMs: z.number(),
        })
        .describe('what holds in this world'),
      settings: z
        .string()
        .max(maxSettingsLength)
        .describe('what the creator of the world lets all its processes know'),
    })
    .describe('The world is complete and begins.'),
  lost: z
    .strictObject({ kind: z.literal('lost'), process, reason })
    .describe('A process is lost. All members learn of all losses in one order.'),
  decided: z
    .strictObject({
      kind: z.literal('decided'),
      key,
      contributions: z
        .array(contribution.nullable())
        .describe('in the order of `members`; null: lost, or at the end of the world, before it contributed'),
      lost: z.array(process).describe('processes lost before the decision, in order'),
    })
    .describe('A decision: every member has contributed or is lost.'),
  probe: z
    .strictObject({ kind: z.literal('probe'), process })
    .describe('A process asks whether this one answers.'),
  present: z
    .strictObject({ kind: z.literal('present'), process })
    .describe('A process has answered `probe`.'),
  handed: z
    .strictObject({ kind: z.literal('handed'), bytes: z.int().min(1) })
    .describe('So many more bytes of this member’s relayed messages have been handed on or dropped.'),
  beat: beat.describe('Answers `beat`.'),
  refused: z
    .strictObject({ kind: z.literal('refused'), code: z.enum(refusalNames), message: z.string() })
    .describe(
      'The last message before the rendezvous closes the socket, with the close code that belongs to `code`.',
    ),
} as const

type Message<Schemas extends Readonly<Record<string, z.ZodType>>> = Readonly<z.infer<Schemas[keyof Schemas]>>

export type ToRendezvous = Message<typeof toRendezvous>
export type FromRendezvous = Message<typeof fromRendezvous>
export type JoinRequest = Readonly<z.infer<typeof toRendezvous.join>>
export type HeartbeatRequest = Readonly<z.infer<typeof toRendezvous.heartbeat>>
export type Welcome = Readonly<z.infer<typeof fromRendezvous.welcome>>

export function encodeControl(message: ToRendezvous | FromRendezvous): string {
  return JSON.stringify(message)
}

/**
 * Decodes a control message of a member. Length and nesting are checked before the text is parsed.
 *
 * @throws ERR_MESSAGE_TOO_LARGE, ERR_PROTOCOL, and ERR_VERSION_MISMATCH for a first message of another version
 */
export function decodeFromMember(text: string): ToRendezvous {
  return decode(text, maxControlLength, toRendezvous) as ToRendezvous
}

/** Decodes a control message of the rendezvous. @throws ERR_MESSAGE_TOO_LARGE, ERR_PROTOCOL */
export function decodeFromRendezvous(text: string): FromRendezvous {
  return decode(text, maxWelcomeLength, fromRendezvous) as FromRendezvous
}

function decode(text: string, maxLength: number, schemas: Readonly<Record<string, z.ZodType>>): unknown {
  if (text.length > maxLength) {
    throw new RankweaveError(
      'ERR_MESSAGE_TOO_LARGE',
      `expected a control message of at most ${maxLength} characters, got ${text.length}`,
    )
  }
  if (jsonDepth(text) > maxControlDepth) throw malformed(`nesting of at most ${maxControlDepth}`, text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed('JSON', text)
  }
  if (typeof value !== 'object' || value === null) throw malformed('an object', text)
  const { kind, protocol } = value as { readonly kind?: unknown; readonly protocol?: unknown }
  if (typeof kind !== 'string' || !Object.hasOwn(schemas, kind)) {
    throw malformed(`a kind among ${Object.keys(schemas).join(', ')}`, text)
  }
  // Check the version before the rest, since the other fields of another version's first message are unknown here.
  if (
    (kind === 'join' || kind === 'heartbeat') &&
    typeof protocol === 'number' &&
    protocol !== protocolVersion
  ) {
    throw new RankweaveError(
      'ERR_VERSION_MISMATCH',
      `expected version ${protocolVersion} of the protocol, got ${protocol}`,
    )
  }
  const result = schemas[kind].safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw malformed(`a valid '${kind}' (${issue.path.join('.')}: ${issue.message})`, text)
}

function malformed(expected: string, text: string): RankweaveError {
  return new RankweaveError(
    'ERR_PROTOCOL',
    `control message: expected ${expected}, got ${shortened(withoutSecrets(text))}`,
  )
}

/** Removes secrets from a text, because errors are printed and logged. */
function withoutSecrets(text: string): string {
  // A message may be truncated within a secret, or contain spaces.
  return text.replaceAll(
    /"(token|secret|peerKeys|heartbeatKey)"\s*:\s*(?:"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|\[[^\]]*\]?)/g,
    '"$1":"..."',
  )
}

// Binary messages on the socket of a member are relayed. A header of 4 bytes, little-endian, names the other process:
// to the rendezvous the receiver, from it the sender. The relayed message follows, which the rendezvous does not read.

export const relayedHeaderBytes = 4

/** Copies the message behind its header. */
export function encodeRelayed(process: number, message: Uint8Array): Uint8Array<ArrayBuffer> {
  const relayed = new Uint8Array(relayedHeaderBytes + message.byteLength)
  setRelayedProcess(relayed, process)
  relayed.set(message, relayedHeaderBytes)
  return relayed
}

export function setRelayedProcess(relayed: Uint8Array, process: number): void {
  new DataView(relayed.buffer, relayed.byteOffset).setUint32(0, process, true)
}

/**
 * Returns the process that a relayed message names.
 *
 * @throws ERR_PROTOCOL for a message without header, or a process out of range; ERR_MESSAGE_TOO_LARGE
 */
export function relayedProcess(relayed: Uint8Array, processes: number, maxMessageBytes: number): number {
  if (relayed.byteLength < relayedHeaderBytes) {
    throw new RankweaveError(
      'ERR_PROTOCOL',
      `relayed message: expected at least ${relayedHeaderBytes} bytes, got ${relayed.byteLength}`,
    )
  }
  requireRelayable(relayed.byteLength - relayedHeaderBytes, maxMessageBytes)
  const process = new DataView(relayed.buffer, relayed.byteOffset).getUint32(0, true)
  if (process < processes) return process
  throw new RankweaveError(
    'ERR_PROTOCOL',
    `relayed message: expected a process below ${processes}, got ${process}`,
  )
}

/** @throws ERR_MESSAGE_TOO_LARGE */
export function requireRelayable(sizeBytes: number, maxMessageBytes: number): void {
  if (sizeBytes <= maxMessageBytes) return
  throw new RankweaveError(
    'ERR_MESSAGE_TOO_LARGE',
    `relayed message: expected at most ${maxMessageBytes} bytes, got ${sizeBytes}`,
  )
}
