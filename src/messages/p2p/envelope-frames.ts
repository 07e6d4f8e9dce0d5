import { bytesOf } from '../../base/bytes.js'
import type { MemoryLocation } from '../../fabric/fabric.js'
import type { Payload } from '../datatype/payload.js'
import { pack, StridedView } from '../datatype/strided-view.js'
import type { Send } from '../mailboxes/send.js'
import type { CommContext } from '../process/comm-context.js'
import {
  envelopeWord,
  envelopeWords,
  type FrameKind,
  frameKind,
  headerWord,
  locationWord,
  sharedWords,
} from '../process/frames.js'

/** Writes and sends the envelopes of one communicator's messages; the headers are made once. */
export class EnvelopeFrames {
  readonly #state: CommContext
  readonly #envelope: Int32Array
  readonly #shared: Int32Array

  constructor(state: CommContext) {
    this.#state = state
    this.#envelope = this.#headerOf(envelopeWords)
    this.#shared = this.#headerOf(sharedWords)
  }

  /**
   * @param bytes the payload, or its first part
   * @param acknowledge whether the receiver is to report that a receive has taken it
   */
  eager(send: Send, destWorldRank: number, bytes: Uint8Array, acknowledge: boolean): void {
    const header = this.#write(send, frameKind.eager, destWorldRank, this.#envelope)
    if (acknowledge) header[envelopeWord.acknowledge] = 1
    this.#state.runtime.send(send.process, header, bytes)
  }

  offer(send: Send, destWorldRank: number): void {
    const header = this.#write(send, frameKind.rendezvous, destWorldRank, this.#envelope)
    this.#state.runtime.send(send.process, header)
  }

  offerShared(send: Send, destWorldRank: number, { segment, byteOffset }: MemoryLocation): void {
    const header = this.#write(send, frameKind.shared, destWorldRank, this.#shared)
    header[locationWord.segment] = segment
    header[locationWord.offsetLow] = byteOffset
    header[locationWord.offsetHigh] = Math.floor(byteOffset / 2 ** 32)
    this.#state.runtime.send(send.process, header)
  }

  /** Returns the payload as it travels: the elements of a strided view are packed. */
  bytesOf({ data, sizeBytes }: Payload): Uint8Array {
    if (!(data instanceof StridedView)) return bytesOf(data)
    this.#state.runtime.processCounters.bytesCopied += sizeBytes
    return bytesOf(pack(data))
  }

  #write(send: Send, kind: FrameKind, destWorldRank: number, header: Int32Array): Int32Array {
    header[headerWord.kind] = kind
    header[envelopeWord.destWorldRank] = destWorldRank
    header[envelopeWord.dest] = send.dest
    header[envelopeWord.source] = send.owner.rank
    header[envelopeWord.tag] = send.tag
    header[envelopeWord.type] = send.payload.type
    header[envelopeWord.sizeBytes] = send.payload.sizeBytes
    header[envelopeWord.transferId] = send.transferId
    header[envelopeWord.acknowledge] = send.synchronous ? 1 : 0
    return header
  }

  #headerOf(words: number): Int32Array {
    const header = new Int32Array(words)
    header[headerWord.leader] = this.#state.id.leader
    header[headerWord.counter] = this.#state.id.counter
    return header
  }
}
