import { describe, expect, it } from 'vitest'
import {
  ArrayBlocks,
  type EntryBlockLayout,
  entriesOfLine,
} from '../../../../src/messages/matching-queues/array-blocks.js'
import { matchingQueues, type QueueElement } from '../../../../src/messages/matching-queues/design.js'
import { receivesInOrder } from '../../../support/matching-microbenchmarks.js'
import { elementOf } from '../../../support/matching-traces.js'
import { replayTrace } from '../../../support/replay-trace.js'

const layout = (over: Partial<EntryBlockLayout> = {}): EntryBlockLayout => ({
  ...{ queue: 'unexpected', entries: 9, group: 1, fields: 'by-entry' },
  ...over,
})

/** Blocks with elements that are numbered from 1, as in the figures. */
function numbered(of: EntryBlockLayout) {
  const blocks = new ArrayBlocks<QueueElement>(of)
  const elements = new Map<number, QueueElement>()
  return {
    blocks,
    add(first: number, last: number) {
      for (let n = first; n <= last; n++) {
        const element = elementOf(1, n, n)
        elements.set(n, element)
        blocks.append(element)
      }
    },
    drop(...numbers: number[]) {
      for (const n of numbers) blocks.remove(elements.get(n)!)
    },
    shown: () =>
      [...blocks.spans()].map(({ head, tail, elements }) => [
        head,
        tail,
        elements.map((element) => element?.number ?? 0),
      ]),
    passed(n: number) {
      const passed = { traversals: 0 }
      expect(blocks.find(elementOf(1, n), passed)).toBe(elements.get(n))
      return passed.traversals
    },
  }
}

describe('blocks of 9 entries (figure 6.3)', () => {
  it('keep holes in the middle, cut them off at both ends, and are unlinked without entries', () => {
    const { blocks, add, drop, passed, shown } = numbered(layout())
    add(1, 6)
    expect(shown()).toEqual([[0, 6, [1, 2, 3, 4, 5, 6]]])
    drop(2, 3)
    expect(shown()).toEqual([[0, 6, [1, 0, 0, 4, 5, 6]]])
    expect([blocks.holes, passed(1), passed(4)]).toEqual([2, 1, 4])
    drop(1)
    expect(shown()).toEqual([[3, 6, [4, 5, 6]]])
    drop(5, 6)
    expect(shown()).toEqual([[3, 4, [4]]])
    add(7, 13)
    expect(shown()).toEqual([
      [3, 9, [4, 7, 8, 9, 10, 11]],
      [0, 2, [12, 13]],
    ])
    add(14, 22)
    expect(shown().slice(1)).toEqual([
      [0, 9, [12, 13, 14, 15, 16, 17, 18, 19, 20]],
      [0, 2, [21, 22]],
    ])
    expect(blocks.blocks).toBe(3)
    drop(12, 13, 14, 15, 16, 17, 18, 19, 20)
    expect(blocks.blocks).toBe(2)
    expect(shown().map(([, , numbers]) => numbers)).toEqual([
      [4, 7, 8, 9, 10, 11],
      [21, 22],
    ])
    expect(blocks.size).toBe(8)
  })

  it('begin again at 0 where the only block has become empty, and use an unlinked block again', () => {
    const { blocks, add, drop, shown } = numbered(layout({ entries: 2 }))
    const numbers = () => shown().map(([, , each]) => each)
    add(1, 2)
    drop(1, 2)
    expect(shown()).toEqual([[0, 0, []]])
    add(3, 8)
    drop(5, 6)
    add(9, 12)
    expect(numbers().join(' ')).toBe('3,4 7,8 9,10 11,12')
    drop(3, 4, 11, 12)
    expect(numbers().join(' ')).toBe('7,8 9,10')
    add(13, 13)
    expect(blocks.blocks).toBe(3)
  })
})

it('entries of a line fill its 64 bytes', () => {
  expect(matchingQueues.map(entriesOfLine)).toEqual([2, 3])
  for (const queue of matchingQueues)
    expect(new ArrayBlocks(layout({ queue, entries: entriesOfLine(queue) })).blockBytes).toBe(64)
})

describe('vectors of 16 (figure 6.4)', () => {
  it('begin at multiples of 16: 0, 0, 16', () => {
    const { add, drop, passed, shown } = numbered(layout({ entries: 32, group: 16, fields: 'by-field' }))
    add(1, 24)
    const heads = [shown()[0][0]]
    expect([passed(16), passed(24)]).toEqual([16, 32])
    drop(1, 2, 3, 4, 5, 6, 7, 8)
    heads.push(shown()[0][0])
    expect([passed(16), passed(24)]).toEqual([16, 32])
    drop(9, 10, 11, 12, 13, 14, 15, 16, 17, 18)
    heads.push(shown()[0][0])
    expect(heads).toEqual([0, 8, 18])
    expect(passed(24)).toBe(16)
  })
})

describe('MB4, 1024 messages', () => {
  const facts = { processes: 2 }
  const designs = {
    list: { name: 'list' },
    'arrays of 2048': { name: 'array-list', options: { entries: 2048 } },
    'arrays of 2': { name: 'array-list', options: { entries: 2 } },
    'arrays of 3': { name: 'array-list' },
    'arrays of 16': { name: 'array-list', options: { entries: 16 } },
    vectors: { name: 'vector-list' },
  } as const

  it.each([
    ['forward', [1, 1, 1, 1, 1, 16]],
    ['middle', [257, 512.5, 257, 257, 257, 520]],
    ['reverse', [512.5, 512.5, 512.5, 512.5, 512.5, 520]],
  ] as const)('received %s', (order, expected) => {
    const passed = Object.values(designs).map((design) => {
      const { unexpected } = replayTrace(receivesInOrder(1024, order), design, facts)
      return unexpected.traversals / unexpected.searches
    })
    expect(passed).toEqual(expected)
  })
})
