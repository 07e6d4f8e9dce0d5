import type { ContextId } from './context-id.js'
import type { FramePort } from './frame-port.js'
import { type FrameKind, frameKind, headerWord, transferWord, transferWords } from './frames.js'

/** Writes and sends the frames of one communicator that refer to a transfer; the header is made once. */
export class TransferFrames {
  readonly #port: FramePort
  readonly #header = new Int32Array(transferWords)

  constructor(port: FramePort, id: ContextId) {
    this.#port = port
    this.#header[headerWord.leader] = id.leader
    this.#header[headerWord.counter] = id.counter
  }

  /** Sends bytes `from` to `to - 1` of a payload, in as many frames as they need. */
  data(process: number, transferId: number, bytes: Uint8Array, from: number, to: number): void {
    const { maxPayloadBytes } = this.#port.fabric
    const header = this.#header
    header[headerWord.kind] = frameKind.data
    header[transferWord.transferId] = transferId
    for (let at = from; at < to; at += maxPayloadBytes) {
      this.#port.send(process, header, bytes.subarray(at, Math.min(at + maxPayloadBytes, to)))
    }
  }

  control(process: number, kind: FrameKind, transferId: number, argument = 0, bytes = 0): void {
    const header = this.#header
    header[headerWord.kind] = kind
    header[transferWord.transferId] = transferId
    header[transferWord.argument] = argument
    header[transferWord.bytes] = bytes
    this.#port.send(process, header)
  }
}
