import { describe, expect, it } from 'vitest'
import { decodeList, encodeList, isLong } from '../../../../src/calls/collectives/move-blocks.js'
import type { Exchange } from '../../../../src/calls/exchange/exchange.js'

const exchange = { eagerLimitBytes: 65_536 } as Exchange

describe('a block list', () => {
  it('has short blocks, and lengths only of long ones', () => {
    const blocks = [0, 1, 16_383, 16_384, 3, 100_000].map((size, i) => new Uint8Array(size).fill(i + 1))
    const { tag, sizes, short } = decodeList(exchange, encodeList(exchange, blocks, 9))
    expect(tag).toBe(9)
    expect(sizes).toEqual([0, 1, 16_383, 16_384, 3, 100_000])
    expect(short.map((block) => block !== undefined)).toEqual([true, true, true, false, true, false])
    expect(short.filter((block) => block !== undefined)).toEqual([blocks[0], blocks[1], blocks[2], blocks[4]])
  })

  it.each([0, 3, 8, 20_000])('has one length where all blocks have %i bytes', (sizeBytes) => {
    const blocks = [1, 2, 3].map((value) => new Uint8Array(sizeBytes).fill(value))
    const bytes = encodeList(exchange, blocks)
    const padded = sizeBytes === 20_000 ? 0 : Math.ceil(sizeBytes / 8) * 8
    expect(bytes.byteLength).toBe(32 + 3 * padded)
    const { sizes, short } = decodeList(exchange, bytes)
    expect(sizes).toEqual([sizeBytes, sizeBytes, sizeBytes])
    expect(short).toEqual(sizeBytes === 20_000 ? [undefined, undefined, undefined] : blocks)
  })

  it('may be of no block at all', () => {
    expect(decodeList(exchange, encodeList(exchange, []))).toEqual({ tag: 0, sizes: [], short: [] })
  })
})

it('blocks past the eager limit are long, empty ones never', () => {
  expect([0, 1].map((size) => isLong({ eagerLimitBytes: 0 }, size))).toEqual([false, true])
})
