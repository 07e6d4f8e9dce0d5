import type * as z from 'zod'
import { jsonDepth } from '../../base/json-depth.js'
import { RankweaveError, shortened } from '../../errors.js'
import { maxControlDepth, maxControlLength, maxWelcomeLength, protocolVersion } from './limits.js'
import { type FromRendezvous, fromRendezvous, type ToRendezvous, toRendezvous } from './messages.js'

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
