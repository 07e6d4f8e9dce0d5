import { createHash } from 'node:crypto'
import { buildTopology, topologyFromEdges, topologyHash } from 'rankweave/topology'
import { expect, test } from 'vitest'

test('topologyHash is SHA-256 over the documented words', () => {
  const topology = topologyFromEdges(3, { sources: [2, 0, 2], destinations: [0, 0, 1], weights: [1, 2, 3] })
  //              ranks | rank 0: to 0; from 2, 0 | rank 1: to none; from 2 | rank 2: to 0, 1; from none
  const words = [3, /**/ 1, 0, 2, 2, 0, /**/ 0, 1, 2, /**/ 2, 0, 1, 0]
  const bytes = new DataView(new ArrayBuffer(4 * words.length))
  for (const [i, word] of words.entries()) bytes.setInt32(4 * i, word, true)
  expect(topologyHash(topology)).toBe(createHash('sha256').update(new Uint8Array(bytes.buffer)).digest('hex'))
})

test('topologyHash stays the same from release to release', () => {
  expect(topologyHash(buildTopology('moore:8x8:r=1'))).toMatchInlineSnapshot(
    `"e611a48940d7c79646c0d599fa24e3c37c91e85a1f49e3c8ea9367d505100f89"`,
  )
})

test('topologyHash differs for graphs that differ in one list', () => {
  const hashes = [
    [
      [0, 0],
      [1, 2],
    ],
    [
      [0, 0],
      [2, 1],
    ],
    [
      [0, 0],
      [1, 1],
    ],
    [
      [1, 2],
      [0, 0],
    ],
  ].map(([sources, destinations]) => topologyHash(topologyFromEdges(3, { sources, destinations })))
  expect(new Set(hashes).size).toBe(hashes.length)
})
