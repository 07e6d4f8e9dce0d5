import type { Clock } from '../../base/clock.js'
import { isRankweaveError, RankweaveError, reasonText, shortened } from '../../errors.js'
import { encodeControl } from '../protocol/messages.js'
import { type RefusalCode, refusalCodes } from '../protocol/refusals.js'
import { closingMs, drop, type Socket, socketState } from '../socket/socket.js'

/** The time for which a refused socket may stay open, in milliseconds. */
const refusedMs = 1_000

/** Sends the reason and closes. Later messages of the peer are not read. */
export function refuse(socket: Socket, clock: Clock, error: RankweaveError): void {
  const code = Object.hasOwn(refusalCodes, error.code) ? (error.code as RefusalCode) : 'ERR_PROTOCOL'
  if (socket.readyState === socketState.open) {
    socket.send(encodeControl({ kind: 'refused', code, message: shortened(error.message) }))
  }
  closeRefused(socket, clock, code)
}

/** Closes a socket that is refused; the reason was sent before. */
export function closeRefused(socket: Socket, clock: Clock, code: RefusalCode): void {
  closeSoon(socket, clock, refusalCodes[code], code, refusedMs)
}

/** Closes a socket; a peer that does not answer within `ms` is dropped. */
export function closeSoon(socket: Socket, clock: Clock, code: number, reason: string, ms = closingMs): void {
  if (socket.readyState === socketState.closed) return
  const cancel = clock.later(ms, () => drop(socket, code, reason))
  socket.addEventListener('close', cancel)
  socket.close(code, reason)
}

/**
 * Returns the same error for an unknown world, a wrong secret and a wrong process: no client learns which worlds exist.
 */
export function wrongToken(): RankweaveError {
  return new RankweaveError('ERR_TOKEN', 'no world has this token')
}

export function protocolError(expected: string): RankweaveError {
  return new RankweaveError('ERR_PROTOCOL', `expected ${expected}`)
}

export function beyondLimit(limit: string): RankweaveError {
  return new RankweaveError('ERR_LIMIT', `expected at most ${limit}`)
}

export function worldLost(message: string): RankweaveError {
  return new RankweaveError('ERR_WORLD_LOST', message)
}

/**
 * Turns an error that was thrown while a message was handled into a refusal of its sender. Unexpected errors are
 * contained too: one member must not end the worlds of others.
 */
export function refusalFrom(error: unknown): RankweaveError {
  if (isRankweaveError(error)) return error
  return new RankweaveError('ERR_PROTOCOL', `${unexpected}: ${reasonText(error)}`, { cause: error })
}

/** The beginning of the reason for a loss that is a fault of the rendezvous. */
export const unexpected = 'a message could not be handled'
