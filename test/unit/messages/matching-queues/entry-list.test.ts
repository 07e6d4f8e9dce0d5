import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ANY_SOURCE,
  ANY_TAG,
  type Entry,
  EntryList,
} from '../../../../src/messages/matching-queues/entry-list.js'

class TestEntry implements Entry {
  readonly source: number
  readonly tag: number
  order = 0
  listed = false
  previous: Entry | undefined = undefined
  next: Entry | undefined = undefined
  constructor(source: number, tag: number) {
    this.source = source
    this.tag = tag
  }
}

const fits = (a: TestEntry, source: number, tag: number) =>
  (a.source === source || a.source === ANY_SOURCE || source === ANY_SOURCE) &&
  (a.tag === tag || a.tag === ANY_TAG || tag === ANY_TAG)

describe('EntryList', () => {
  it.each(['messages', 'patterns'] as const)('of %s finds the earliest match, short or long', (holds) => {
    const source = fc.integer({ min: -1, max: 4 })
    const tag = fc.oneof(fc.integer({ min: -1, max: 4 }), fc.constant(0x7fffffff))
    const step = fc.record({ add: fc.integer({ min: 0, max: 9 }), take: fc.boolean(), source, tag })
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 400, size: 'max' }),
        fc.integer({ min: 2, max: 7 }),
        (steps, growth) => {
          const list = new EntryList<TestEntry>(holds)
          let model: TestEntry[] = []
          for (const { add, take, source, tag } of steps) {
            const exact = (value: number) => Math.max(0, value)
            if (add < growth) {
              const entry =
                holds === 'messages' ? new TestEntry(exact(source), exact(tag)) : new TestEntry(source, tag)
              list.add(entry)
              model.push(entry)
              continue
            }
            const query = holds === 'messages' ? { source, tag } : { source: exact(source), tag: exact(tag) }
            const found = list.find(query.source, query.tag)
            expect(found).toBe(model.find((entry) => fits(entry, query.source, query.tag)))
            const leaving = take ? found : model[add % (model.length + 1)]
            if (leaving === undefined) continue
            list.remove(leaving)
            model = model.filter((entry) => entry !== leaving)
            expect(list.size).toBe(model.length)
          }
          expect([...list]).toEqual(model)
        },
      ),
      { numRuns: 120 },
    )
  })

  it('allows removal of the current entry during an iteration', () => {
    const list = new EntryList<TestEntry>('messages')
    for (let tag = 0; tag < 40; tag++) list.add(new TestEntry(0, tag))
    for (const entry of list) if (entry.tag % 2 === 0) list.remove(entry)
    expect([...list].map(({ tag }) => tag)).toEqual(Array.from({ length: 20 }, (_, i) => 2 * i + 1))
  })
})
