import { expect, it } from 'vitest'
import { typeCode } from '../../../../src/messages/datatype/elements.js'
import { wordViewOf } from '../../../../src/topology-communicator/memory/memory-words.js'
import { receiveBuffers } from '../../../../src/topology-communicator/memory/receive-buffers.js'

it.each([1, 1000])(
  'receiveBuffers returns a filled array per rank, of %s elements times its number',
  (count) => {
    const sizes = [0, count, 2 * count, 3 * count]
    const into = new Float64Array(2 * count + 1).fill(-1)
    const { words, base, results } = receiveBuffers(typeCode.Float64Array, sizes, (i) =>
      i === 2 ? into : undefined,
    )
    for (const [i, size] of sizes.entries()) {
      for (let e = 0; e < size; e++) words[i].set(wordViewOf(Float64Array.of(1000 * i + e)), base[i] + 2 * e)
    }
    const filled = results()
    expect(filled[2]).toBe(into)
    expect(into[2 * count]).toBe(-1)
    for (const [i, size] of sizes.entries()) {
      expect(filled[i].subarray(0, size)).toEqual(Float64Array.from({ length: size }, (_, e) => 1000 * i + e))
      if (i !== 2) expect(filled[i]).toHaveLength(size)
    }
    const fresh = filled.filter((array) => array !== into && array.length > 0)
    expect(new Set(fresh.map(({ buffer }) => buffer)).size).toBe(fresh.length)
  },
)
