import type { FramePort } from '../../messages/process/frame-port.js'
import {
  collectiveWord,
  frameKind,
  headerWord,
  offsetOf,
  totalOf,
  transferMode,
  transferWord,
  transferWords,
} from '../../messages/process/frames.js'
import type { ProcessPort } from '../../messages/process/process-port.js'

export function writeTotal(header: Int32Array, totalBytes: number, offsetBytes: number): void {
  header[collectiveWord.total] = totalBytes
  header[collectiveWord.high] = (high(totalBytes) << 16) | high(offsetBytes)
}

/**
 * Returns the charge of a message that is dropped instead of received, when its first frame arrives. It does so once
 * per message, however many frames it has. An offer is declined.
 */
export function returnCharge(port: ProcessPort, src: number, header: Int32Array): void {
  const { credit } = port
  if (header[headerWord.kind] === frameKind.collectiveOffer) {
    // The sender of an offer may hold a staged copy for this process.
    const answer = new Int32Array(transferWords)
    answer.set(header.subarray(0, transferWord.transferId))
    answer[headerWord.kind] = frameKind.clearToSend
    answer[transferWord.transferId] = header[collectiveWord.offset]
    answer[transferWord.argument] = transferMode.discard
    port.send(src, answer)
    return
  }
  if (header[headerWord.kind] === frameKind.collective && offsetOf(header) === 0)
    credit.consumed(src, totalOf(header))
}

function high(sizeBytes: number): number {
  return Math.floor(sizeBytes / 2 ** 32)
}

/**
 * Sends a message in as many frames as it needs.
 *
 * @param header whose words for total and offset are written here
 */
function sendInFrames(port: FramePort, process: number, header: Int32Array, payload: Uint8Array): void {
  const { maxPayloadBytes } = port.fabric
  const total = payload.length
  let offset = 0
  do {
    const end = Math.min(total, offset + maxPayloadBytes)
    header[collectiveWord.offset] = offset
    writeTotal(header, total, offset)
    port.send(process, header, offset === 0 && end === total ? payload : payload.subarray(offset, end))
    offset = end
  } while (offset < total)
}

/**
 * Sends a message at once if its receiver can store it until it is wanted. That holds within the eager limit, and
 * beyond it if an answer would take long. Returns false, with nothing done, if the message has to be offered.
 */
export function sendAtOnce(
  port: ProcessPort,
  process: number,
  header: Int32Array,
  payload: Uint8Array,
): boolean {
  const { options, fabric, credit } = port
  const total = payload.length
  if (total > options.eagerLimitBytes) {
    if (options.sendsAhead !== true || total > (fabric.ahead?.spaceFor(process) ?? 0)) return false
  }
  if (!credit.take(process, total)) return false
  sendInFrames(port, process, header, payload)
  return true
}
