import { describe, expect, it } from 'vitest'
import { headOf, isLong, listIn } from '../../../../../../src/comm/calls/collectives/blocks/block-list.js'
import type { Exchange } from '../../../../../../src/comm/calls/exchange.js'

const exchange = { eagerLimitBytes: 65_536 } as Exchange

describe('the head of a block list', () => {
  it('has short blocks, and lengths only of long ones', () => {
    const blocks = [0, 1, 16_383, 16_384, 3, 100_000].map((size, i) => new Uint8Array(size).fill(i + 1))
    const { tag, sizes, short } = listIn(headOf(exchange, blocks, 9))
    expect(tag).toBe(9)
    expect(sizes).toEqual([0, 1, 16_383, 16_384, 3, 100_000])
    expect(short.map((block) => block !== undefined)).toEqual([true, true, true, false, true, false])
    expect(short.filter((block) => block !== undefined)).toEqual([blocks[0], blocks[1], blocks[2], blocks[4]])
  })

  it('may be of no block at all', () => {
    expect(listIn(headOf(exchange, []))).toEqual({ tag: 0, sizes: [], short: [] })
  })
})

it('blocks past the eager limit are long, empty ones never', () => {
  expect([0, 1].map((size) => isLong({ eagerLimitBytes: 0 } as Exchange, size))).toEqual([false, true])
})
