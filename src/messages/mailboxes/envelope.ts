import { elementSizeBytes, typeCode } from '../datatype/elements.js'
import { envelopeWord } from '../process/frames.js'

export interface Envelope {
  readonly source: number
  readonly tag: number
  readonly type: number
  readonly countElems: number
  readonly sizeBytes: number
}

export function envelopeIn(header: Int32Array): Envelope {
  const type = header[envelopeWord.type]
  const sizeBytes = header[envelopeWord.sizeBytes] >>> 0
  const countElems = type === typeCode.value ? 1 : sizeBytes / elementSizeBytes(type)
  return {
    source: header[envelopeWord.source],
    tag: header[envelopeWord.tag],
    type,
    countElems,
    sizeBytes,
  }
}

export { ANY_SOURCE, ANY_TAG } from '../matching-queues/entry-list.js'

/**
 * The rank that stands for no process: sends to it and receives from it complete at once, without data. MPI-4.1 §3.10.
 */
export const PROC_NULL = -2

/** The largest tag a user may send with (MPI_TAG_UB). */
export const maxTag = 0x7fffffff
