import { RankweaveError } from '../errors.js'
import { maxHeaderWords } from './fabric.js'

/**
 * Rejects a frame that no fabric sends.
 *
 * @throws ERR_FABRIC for a peer out of range, or for an oversized header or payload
 */
export function checkFrame(
  peer: number,
  processes: number,
  headerWords: number,
  payloadBytes: number,
  maxPayloadBytes: number,
): void {
  const isPeer = peer >= 0 && peer < processes && Number.isInteger(peer)
  if (isPeer && headerWords <= maxHeaderWords && payloadBytes <= maxPayloadBytes) return
  throw refusal(isPeer, peer, processes, headerWords, payloadBytes, maxPayloadBytes)
}

/** Returns the error of a second receiver: a process has one receiver of frames for all its life. */
export function alreadyAttached(process: number): RankweaveError {
  return new RankweaveError('ERR_FABRIC', `process ${process} already has a receiver of frames`)
}

export function closedToSends(): RankweaveError {
  return new RankweaveError('ERR_FABRIC', 'the session is closed: nothing can be sent')
}

function refusal(
  isPeer: boolean,
  peer: number,
  processes: number,
  headerWords: number,
  payloadBytes: number,
  maxPayloadBytes: number,
): RankweaveError {
  const expected = !isPeer
    ? `expected a process in 0..${processes - 1}, got ${peer}`
    : headerWords > maxHeaderWords
      ? `a header has at most ${maxHeaderWords} words, got ${headerWords}`
      : `a payload has at most ${maxPayloadBytes} bytes, got ${payloadBytes}`
  return new RankweaveError('ERR_FABRIC', expected)
}
