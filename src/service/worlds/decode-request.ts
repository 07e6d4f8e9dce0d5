import { jsonDepth } from '../../base/json-depth.js'
import { maxMessageDepth } from '../../client/protocol/limits.js'
import { type CallError, type WorldRequest, worldRequests } from '../../client/protocol/worlds.js'
import { isRankweaveError, RankweaveError, reasonText, shown } from '../../errors.js'
import { withoutHint } from '../../messages/process/call-sites.js'
import { fieldError } from '../field-words.js'

/** A message of a client: its request, or the error in it. `id` is null if it could not be read. */
type Decoded =
  | { readonly id: number; readonly request: WorldRequest }
  | { readonly id: number | null; readonly error: RankweaveError }

/**
 * Decodes a message. Length and nesting are checked before the text is parsed. Errors repeat no
 * token.
 */
export function decodeRequest(text: string, maxLength: number): Decoded {
  if (text.length > maxLength) {
    return refused(null, 'ERR_MESSAGE_TOO_LARGE', `at most ${maxLength} characters, got ${text.length}`)
  }
  if (jsonDepth(text, maxMessageDepth) > maxMessageDepth) {
    return refused(null, 'ERR_PROTOCOL', `nesting of at most ${maxMessageDepth}`)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return refused(null, 'ERR_PROTOCOL', 'JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refused(null, 'ERR_PROTOCOL', `an object, got ${shown(value)}`)
  }
  const { id: given, kind, protocol } = value as { id?: unknown; kind?: unknown; protocol?: unknown }
  const id = Number.isSafeInteger(given) && (given as number) >= 0 ? (given as number) : null
  if (typeof kind !== 'string' || !Object.hasOwn(worldRequests, kind)) {
    const got = kind === undefined ? 'none' : shown(kind)
    return refused(id, 'ERR_PROTOCOL', `a kind among ${Object.keys(worldRequests).join(', ')}, got ${got}`)
  }
  // Check the version before the rest, since the other fields of another version's first message are unknown here.
  if (kind === 'hello' && typeof protocol === 'number' && protocol !== worldProtocol) {
    return refused(id, 'ERR_VERSION_MISMATCH', `version ${worldProtocol} of the protocol, got ${protocol}`)
  }
  const schema = worldRequests[kind as keyof typeof worldRequests]
  const result = schema.safeParse(value)
  if (result.success) return { id: result.data.id, request: result.data }
  const [issue] = result.error.issues
  return { id, error: new RankweaveError('ERR_PROTOCOL', fieldError(schema, value, issue, kind, `${kind}.`)) }
}

const worldProtocol = worldRequests.hello.shape.protocol.value

function refused(
  id: number | null,
  code: 'ERR_PROTOCOL' | 'ERR_MESSAGE_TOO_LARGE' | 'ERR_VERSION_MISMATCH',
  expected: string,
): Decoded {
  return { id, error: new RankweaveError(code, `expected ${expected}`) }
}

/** Returns an error as it travels. Unexpected errors are contained: their text may name what is not for clients. */
export function toCallError(error: unknown): CallError {
  if (!isRankweaveError(error)) {
    return { code: 'ERR_PROTOCOL', message: 'the message could not be handled: see the log', details: {} }
  }
  const { code, message, details } = error
  return { code, message: withoutHint(message), details: { ...details } }
}

/** Returns the error that ended a world, for its members. */
export function endedError(error: unknown): RankweaveError {
  if (isRankweaveError(error)) return error
  return new RankweaveError('ERR_WORLD_ENDED', `the world has ended: ${reasonText(error)}`, { cause: error })
}
