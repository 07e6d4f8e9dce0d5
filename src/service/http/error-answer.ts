import type { Duplex } from 'node:stream'
import type { FastifyError } from 'fastify'
import type * as z from 'zod'
import type { ErrorAnswer } from '../../client/protocol/http.js'
import { type ErrorCode, RankweaveError } from '../../errors.js'
import { printableLines } from '../../text/printable.js'
import { fieldError } from '../field-words.js'
import { endSoon } from './connections.js'

const statuses: Partial<Record<ErrorCode, number>> = {
  ERR_TOKEN: 401,
  ERR_ORIGIN: 403,
  ERR_NOT_FOUND: 404,
  ERR_CANCELLED: 409,
  ERR_MESSAGE_TOO_LARGE: 413,
  // The request would be refused again, however often it is sent. The status is not 429, because libraries repeat such
  // requests by themselves.
  ERR_LIMIT: 413,
  ERR_BUSY: 503,
  // The disk may be full, or unavailable, for a while.
  ERR_STORE: 503,
}

interface Refusal {
  readonly status: number
  readonly answer: ErrorAnswer
}

/**
 * Turns an error into an answer: its status, code and message. The answer to a bug states no more than that it is
 * one.
 */
export function errorAnswer(error: unknown): Refusal {
  if (error instanceof RankweaveError) return answerOf(statuses[error.code] ?? 400, error.code, error.message)
  const { code, statusCode = 500, message } = error as FastifyError
  if (statusCode === 413) return answerOf(413, 'ERR_MESSAGE_TOO_LARGE', message)
  if (statusCode === 503) return answerOf(503, 'ERR_BUSY', 'the service shuts down')
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return answerOf(
      415,
      'ERR_ARGUMENT',
      'expected the header content-type: application/json, got another or none',
    )
  if (statusCode < 500) return answerOf(statusCode, 'ERR_ARGUMENT', message)
  return answerOf(500, 'ERR_WORKER', 'a bug in the service; its log has the error')
}

/** Answers on a connection that is not, or no longer, one of HTTP, and ends it. */
export function endWith(net: Duplex, status: number, answer: ErrorAnswer): void {
  const body = JSON.stringify(answer)
  const headers = [
    'connection: close',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  endSoon(net, `HTTP/1.1 ${status} Refused\r\n${headers.join('\r\n')}\r\n\r\n${body}`)
}

function answerOf(status: number, code: ErrorCode, message: string) {
  return { status, answer: { error: { code, message: printableLines(message.slice(0, 2000)) } } }
}

/** Parses a value by its schema. @throws ERR_ARGUMENT naming the field, what was expected and what arrived */
export function parsed<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const given = value ?? {}
  const result = schema.safeParse(given)
  if (result.success) return result.data
  throw new RankweaveError('ERR_ARGUMENT', fieldError(schema, given, result.error.issues[0], 'request'))
}
