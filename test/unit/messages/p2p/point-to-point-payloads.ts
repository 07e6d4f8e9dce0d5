import { newArray, type TypedArray, typeCode } from '../../../../src/messages/datatype/elements.js'

/** Names of all typed arrays that can be sent. */
export const elementTypes = Object.keys(typeCode).filter(
  (name) => name !== 'value',
) as (keyof typeof typeCode)[]

/** Elements that say whose message they are and where in it they belong, as far as their type can hold it. */
export function marked(
  type: keyof typeof typeCode,
  countElems: number,
  source: number,
  dest: number,
  slot: number,
): TypedArray {
  const array = newArray(typeCode[type], countElems)
  for (let i = 0; i < countElems; i++) {
    const mark = ((source * 31 + dest) * 101 + slot) * 1009 + i
    if (array instanceof BigInt64Array || array instanceof BigUint64Array) array[i] = BigInt(mark)
    else
      array[i] =
        array.BYTES_PER_ELEMENT === 1 ? mark % 127 : array.BYTES_PER_ELEMENT === 2 ? mark % 32767 : mark
  }
  return array
}
