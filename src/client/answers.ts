import { type ErrorCode, errorCodes, RankweaveError, reasonText, shown } from '../errors.js'
import type { CallError } from './protocol/worlds.js'

/** Returns an error as the service reports it; ERR_PROTOCOL for a code that this version does not know. */
export function errorOf({ code, message, details }: Partial<CallError>, otherwise: string): RankweaveError {
  const known = (errorCodes as readonly unknown[]).includes(code)
  return new RankweaveError(known ? (code as ErrorCode) : 'ERR_PROTOCOL', String(message ?? otherwise), {
    details: details ?? {},
  })
}

/** Returns the error that ended a request: its caller's abort, or one of the network. */
export function interrupted(signal: AbortSignal | undefined, otherwise: RankweaveError): RankweaveError {
  if (signal?.aborted !== true) return otherwise
  return new RankweaveError('ERR_ABORTED', 'the request was aborted', { cause: signal.reason })
}

export function unreachable(url: string, cause: unknown): RankweaveError {
  const { cause: below } = Object(cause) as { readonly cause?: unknown }
  return new RankweaveError('ERR_SERVICE', `no service at ${url}: ${reasonText(below ?? cause)}`, { cause })
}

/**
 * Returns the part of an address that names something. @throws ERR_ARGUMENT for an id that would address something else
 */
export function idText(kind: 'a topology' | 'a plan' | 'a job', id: unknown): string {
  const letter = kind.at(2)!
  if (typeof id === 'string' && id.startsWith(`${letter}-`) && /^.-[0-9a-f]{64}$/.test(id)) return id
  throw new RankweaveError('ERR_ARGUMENT', `expected the id of ${kind}, ${letter}-..., got ${shown(id)}`)
}

/** Writes the defined values as `?a=1&b=2`. */
export function queryText(values: object): string {
  const words = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) if (value !== undefined) words.set(name, String(value))
  return words.size === 0 ? '' : `?${words}`
}

/**
 * Yields the lines of a text that arrives in pieces, without their ends. Cancels the stream when it is not read to its
 * end.
 */
export async function* linesOf(
  stream: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let pieces: string[] = [] // parts of a line that spans pieces
  try {
    for (;;) {
      const { done, value } = await reader.read()
      const lines = (done ? decoder.decode() : decoder.decode(value, { stream: true })).split('\n')
      pieces.push(lines[0])
      for (let i = 1; i < lines.length; i++) {
        yield pieces.join('')
        pieces = [lines[i]]
      }
      if (done) break
    }
    const last = pieces.join('')
    if (last !== '') yield last
  } catch (cause) {
    if (cause instanceof RankweaveError) throw cause
    const early = `the answer ended early: ${reasonText(cause)}`
    throw interrupted(signal, new RankweaveError('ERR_SERVICE', early, { cause }))
  } finally {
    await reader.cancel().catch(() => {})
  }
}

export interface ServiceAddress {
  /** The address, such as `http://127.0.0.1:7878`. */
  readonly url: string
  /** The token of a service with tokens; it travels in headers and first messages, never in an address. */
  readonly token?: string
}

/** Checks the address of a service. @throws ERR_ARGUMENT */
export function serviceUrl({ url, token }: ServiceAddress): URL {
  if (token !== undefined && (typeof token !== 'string' || !/^[\x21-\x7e]{1,256}$/.test(token)))
    throw new RankweaveError('ERR_ARGUMENT', 'token: expected a text of 1 to 256 characters without spaces')
  const parsed = typeof url === 'string' ? parse(url) : undefined
  if (parsed !== undefined && /^https?:$/.test(parsed.protocol) && parsed.username === '') return parsed
  throw new RankweaveError(
    'ERR_ARGUMENT',
    `url: expected the address of a service such as http://127.0.0.1:7878, got ${shown(url)}`,
  )
}

function parse(url: string): URL | undefined {
  try {
    return new URL(url)
  } catch {
    return undefined
  }
}
