import { elementSizeBytes, typeCode } from '../datatype/elements.js'
import { envelopeWord } from '../process/frames.js'

/** A message without its data. */
export interface Envelope {
  readonly source: number
  readonly tag: number
  readonly type: number
  readonly countElems: number
  readonly sizeBytes: number
}

/** The envelope in the header of a frame. */
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
