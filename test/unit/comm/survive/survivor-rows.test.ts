import { describe, expect, it } from 'vitest'
import { bytesOf } from '../../../../src/base/bytes.js'
import { rowsCall, SurvivorRows } from '../../../../src/comm/survive/survivor-rows.js'
import type { TableContext } from '../../../../src/comm/table/table-context.js'
import { worldLayout } from '../../../../src/messages/process/world-layout.js'

/** The first of three processes with two ranks each. */
function rowsOfFirst() {
  const layout = worldLayout(6, ['a', 'a', 'a'])
  const runtime = { process: 0, layout, lostPeer: () => undefined, send() {}, fabric: { maxPayloadBytes: 8 } }
  const state = { id: { leader: 0, counter: 1 }, runtime, localRanks: [0, 1], worldRank: (n: number) => n }
  return new SurvivorRows(state as unknown as TableContext)
}

const header = (seq: number, total: number, at: number) => Int32Array.of(21, 0, 1, seq, total, at)

describe('rows of survivors', () => {
  it('arrive in frames, before or after they are waited for', async () => {
    const rows = rowsOfFirst()
    expect(rowsCall(header(7, 4, 0))).toBe(7)
    rows.frame(1, header(7, 4, 0), bytesOf(Int32Array.of(2, 2)))
    const exchanged = rows.exchange(7, [0, 1, 2])
    rows.frame(2, header(7, 4, 0), bytesOf(Int32Array.of(4, 4, 5, 5)))
    rows.frame(1, header(7, 4, 2), bytesOf(Int32Array.of(3, 3)))
    await exchanged
    expect([...rows.take(7, [0, 1, 2])]).toEqual([0, 1, 2, 3, 4, 5])
  })

  it.each([
    ['more ranks than the process has', 6, 0, 2],
    ['less than none', -1, 0, 0],
    ['another total', 2, 2, 2],
    ['a part again', 4, 0, 2],
    ['a gap', 4, 3, 1],
    ['more than there are', 4, 2, 4],
    ['an empty part', 4, 2, 0],
    ['a rank of another process', 4, 2, 2],
  ])('are refused with ERR_PROTOCOL: %s', (_, total, at, words) => {
    const rows = rowsOfFirst()
    rows.frame(1, header(0, 4, 0), bytesOf(Int32Array.of(2, 2)))
    const frame = () => rows.frame(1, header(0, total, at), bytesOf(new Int32Array(words)))
    expect(frame).toThrow(expect.objectContaining({ code: 'ERR_PROTOCOL' }))
  })

  it('are refused that are no whole numbers', () => {
    expect(() => rowsOfFirst().frame(1, header(0, 4, 0), new Uint8Array(3))).toThrow('expected at most 4')
  })
})
