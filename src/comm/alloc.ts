import { wrongValue } from '../errors.js'
import {
  newArray,
  type TypedArray,
  type TypedArrayConstructor,
  typeCodeOfConstructor,
} from '../messages/datatype/elements.js'
import type { RankHandle } from '../messages/process/comm-context.js'

// Implements `Communicator.alloc`, where it is documented.
export function alloc(
  comm: RankHandle,
  typeOrBytes: TypedArrayConstructor | number,
  countElems: number | undefined,
): TypedArray {
  const { sharing } = comm.seat().state.runtime.fabric
  const bytes = typeof typeOrBytes === 'number'
  const type = typeCodeOfConstructor(bytes ? Uint8Array : typeOrBytes)
  const count = bytes ? typeOrBytes : countElems
  if (!Number.isSafeInteger(count) || count! < 0) {
    const expected = `alloc: ${bytes ? 'sizeBytes' : 'countElems'} must be an integer from 0`
    throw wrongValue('ERR_COUNT', expected, count)
  }
  return newArray(type, count!, (sizeBytes) => sharing?.alloc(sizeBytes))
}
