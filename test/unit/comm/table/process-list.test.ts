import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProcessList } from '../../../../src/comm/table/process-table.js'

const ascendingOf = (values: Iterable<number>) => [...new Set(values)].sort((a, b) => a - b)

describe('ProcessList', () => {
  it('has the processes at their indices, in any form', () => {
    const lists = fc.oneof(
      fc.uniqueArray(fc.nat(300), { minLength: 1, maxLength: 80 }),
      // Ascending, with one moved to the front.
      fc
        .tuple(fc.uniqueArray(fc.nat(300), { minLength: 1, maxLength: 80 }), fc.nat())
        .map(([values, pick]) => {
          const ascending = ascendingOf(values)
          return [...ascending.splice(pick % ascending.length, 1), ...ascending]
        }),
      // Progressions, rising and falling, also with one moved to the front.
      fc
        .tuple(fc.nat(50), fc.integer({ min: -4, max: 4 }), fc.nat({ max: 30 }), fc.nat())
        .map(([start, stride, more, pick]) => {
          const values = Array.from(
            { length: stride === 0 ? 1 : more + 1 },
            (_, i) => 200 + start + i * stride,
          )
          return [...values.splice(pick % values.length, 1), ...values]
        }),
    )
    fc.assert(
      fc.property(lists, (processes) => {
        const list = new ProcessList(Int32Array.from(processes))
        expect(list.count).toBe(processes.length)
        expect([...list]).toEqual(processes)
        const asked = Array.from({ length: 400 }, (_, process) => process)
        expect(asked.map((process) => list.indexOf(process))).toEqual(
          asked.map((process) => processes.indexOf(process)),
        )
      }),
      { numRuns: 80, seed: 2 },
    )
  })

  it('is in closed form where the processes ascend evenly, whichever comes first', () => {
    for (const processes of [[7], [0, 1, 2, 3], [5, 9, 13], [4, 3, 2], [2, 0, 1, 3], [9, 5, 13]]) {
      expect(new ProcessList(Int32Array.from(processes)).sizeBytes).toBe(0)
    }
  })

  it('takes less than a quarter of a list for half of 4,096 processes', () => {
    const processes = Array.from({ length: 4096 }, (_, i) => i).filter(
      (i) => (Math.imul(i, 0x9e3779b1) >>> 7) % 2 === 0,
    )
    const [first] = processes.splice(1000, 1)
    const list = new ProcessList(Int32Array.from([first, ...processes]))
    expect(list.sizeBytes).toBeLessThan(processes.length)
  })
})
