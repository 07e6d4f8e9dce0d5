import fc from 'fast-check'
import { expect, it } from 'vitest'
import { EntryQueues } from '../../../../src/cost/simulate/queue-searches.js'

it('an entry has the place that it has in a list from which those before were removed', () => {
  const steps = fc.array(fc.record({ adds: fc.boolean(), process: fc.nat(2), which: fc.nat(1000) }), {
    maxLength: 120,
  })
  fc.assert(
    fc.property(steps, (each) => {
      const start = Int32Array.of(0, 7, 7, 40)
      const queues = new EntryQueues(start)
      const lists: number[][] = [[], [], []]
      const next = [...start.subarray(0, 3)]
      for (const { adds, process, which } of each) {
        const list = lists[process]!
        if (adds && next[process]! < start[process + 1]!) {
          const entry = next[process]!++
          queues.add(process, entry)
          list.push(entry)
        } else if (!adds && list.length > 0) {
          const place = which % list.length
          const [entry] = list.splice(place, 1)
          expect(queues.has(entry!)).toBe(true)
          expect(queues.take(process, entry!)).toBe(place + 1)
          expect(queues.has(entry!)).toBe(false)
        }
        expect(lists.map((_, p) => queues.length(p))).toEqual(lists.map(({ length }) => length))
      }
    }),
    { seed: 20261128, numRuns: 200 },
  )
})
