import { RankweaveError } from '../../errors.js'

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
