import { describe, expect, it } from 'vitest'
import { ANY_SOURCE, ANY_TAG } from '../../../../src/messages/mailboxes/envelope.js'
import { MeteredList } from '../../../../src/messages/mailboxes/matching-meter.js'
import type { Entry } from '../../../../src/messages/matching-queues/entry-list.js'
import { EntryList } from '../../../../src/messages/matching-queues/entry-list.js'

const entry = (source: number, tag: number): Entry => ({
  ...{ source, tag, order: 0, listed: false },
  ...{ previous: undefined, next: undefined },
})

describe('a metered list', () => {
  it('counts searches, matches, entries passed and lengths', () => {
    const list = new MeteredList(new EntryList('messages'))
    expect(list.find(0, 0)).toBeUndefined()
    const entries = [entry(1, 5), entry(2, 5), entry(3, 6)]
    for (const each of entries) list.add(each)
    expect(list.find(2, 5)).toBe(entries[1])
    list.remove(entries[1])
    expect(list.find(ANY_SOURCE, 7)).toBeUndefined()
    expect(list.find(3, ANY_TAG)).toBe(entries[2])
    expect(list.statistics).toEqual({
      ...{ length: 2, searches: 4, matches: 2, passed: 0 + 2 + 2 + 2 },
      ...{ meanLength: (0 + 3 + 2 + 2) / 4, longest: 3, byLength: [1, 0, 3] },
      searchMs: expect.any(Number),
    })
  })

  it('counts an index when it is built, then the first entry and that of a line', () => {
    const list = new MeteredList(new EntryList('messages'))
    for (let tag = 0; tag < 1000; tag++) list.add(entry(1, tag))
    list.find(1, 999)
    const { passed } = list.statistics
    expect(passed).toBe(24 + 1000 + 1)
    list.find(1, 998)
    expect(list.statistics.passed).toBe(passed + 2)
  })
})
