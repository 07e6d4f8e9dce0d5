import { describe, expect, it } from 'vitest'
import { below, mulberry32 } from '../../../../src/base/random.js'
import { QueueElement, RoutedDesign } from '../../../../src/messages/matching-queues/design.js'
import { makeMatchingDesign } from '../../../../src/messages/matching-queues/designs.js'
import {
  DynamicPartners,
  type DynamicPartnersRule,
  type EdgeRule,
  edgeOfCounts,
  mostStaticPartners,
  PartnerTable,
  partnerKeys,
  perfectHash,
  placeOfKey,
  SourceKeys,
  StaticPartners,
} from '../../../../src/messages/matching-queues/partners.js'
import { countSources } from '../../../../src/messages/matching-queues/replay.js'
import { reverseSearch } from '../../../support/matching-microbenchmarks.js'
import { elementOf, passedBy } from '../../../support/matching-traces.js'
import { replayTrace } from '../../../support/replay-trace.js'

const rule = (over: Partial<EdgeRule> = {}): EdgeRule => ({
  ...{ edge: 'average', alpha: 0, population: 'all' },
  ...over,
})
const unbounded: DynamicPartnersRule = {
  ...rule(),
  ...{ threshold: 8, slots: Number.POSITIVE_INFINITY, retry: 'later' },
}

it('static partners have lists for those with most elements, of too many', () => {
  const counts = new Map([[0, Int32Array.from({ length: 40_000 }, (_, source) => (source < 9_000 ? 2 : 3))]])
  const partners = new StaticPartners(counts, 80_000, rule())
  expect(partners.chains()).toHaveLength(1 + mostStaticPartners)
  const [others] = partners.chains()
  for (const [source, isOther] of [
    [1_767, false],
    [1_768, true],
    [8_999, true],
    [9_000, false],
    [39_999, false],
  ] as const) {
    const before = others!.length
    partners.append(elementOf(source))
    expect(others!.length - before, String(source)).toBe(isOther ? 1 : 0)
  }
})

describe('the edge of partners', () => {
  const counts = [1, 1, 2, 3, 5, 20]
  const bySource = new Map([1, 1, 2, 3, 5, 20].map((count, i) => [i + 2, count]))

  it.each([
    ['average', 0, 4, [6, 7]],
    ['median', 0, 1.5, [4, 5, 6, 7]],
    ['upper-fence', 0, 3.5, [6, 7]],
    ['upper-fence', 1.5, 7.625, [7]],
  ] as const)('%s of 0, 0, 1, 1, 2, 3, 5, 20 with alpha %d is %d', (edge, alpha, value, keys) => {
    expect(edgeOfCounts(counts, 2, rule({ edge, alpha }))).toBe(value)
    expect(partnerKeys(bySource, 8, rule({ edge, alpha }))).toEqual(keys)
  })

  it('is exceeded by partners, not reached', () => {
    const equal = new Map([
      [0, 3],
      [1, 3],
    ])
    expect(partnerKeys(equal, 2, rule())).toEqual([])
    expect(partnerKeys(equal, 3, rule())).toEqual([0, 1])
  })

  it('of a uniform hotspot makes every source a partner by the average of all, and none otherwise', () => {
    const hotspot = new Map(Array.from({ length: 15 }, (_, i) => [i + 1, 10]))
    const others: Partial<EdgeRule>[] = [
      { edge: 'median' },
      { edge: 'upper-fence' },
      { population: 'nonzero' },
    ]
    const partners = [{}, ...others].map((over) => partnerKeys(hotspot, 16, rule(over)).length)
    expect(partners).toEqual([15, 0, 0, 0])
  })

  it('of nothing is 0', () => {
    expect(edgeOfCounts([], 0, rule())).toBe(0)
    expect(edgeOfCounts([], 4, rule({ edge: 'median' }))).toBe(0)
  })
})

describe('keys of sources', () => {
  it('are distinct for all ranks of all communicators, without gaps', () => {
    const keys = new SourceKeys(5)
    const seen = [7, 0, 1000].flatMap((context) =>
      [0, 1, 2, 3, 4].map((source) => keys.keyOf({ context, source })),
    )
    expect(seen).toEqual(Array.from({ length: 15 }, (_, i) => i))
    expect(keys.keyOf({ context: 0, source: 3 })).toBe(8)
    const known = [7, 8].map((context) => keys.knownKeyOf({ context, source: 4 }))
    expect(known).toEqual([4, -1])
    expect(keys.population).toBe(15)
  })
})

describe('the perfect hash', () => {
  it('of 3, 5, 17, 21, 40, 52 has 8 rows and 7 places', () => {
    const set = [3, 5, 17, 21, 40, 52]
    const hash = perfectHash(set)
    expect(hash.side).toBe(8)
    expect([...hash.displacements]).toEqual([0, 0, 1, 0, 0, 0, 0, 0])
    expect(set.map((key) => placeOfKey(hash, key))).toEqual([3, 5, 2, 6, 0, 4])
    expect(hash.keys).toHaveLength(7)
    // Its row begins where 52 is.
    expect(placeOfKey(hash, 4)).toBe(-1)
    for (const absent of [-1, 0, 63, 64, 1e9]) expect(placeOfKey(hash, absent)).toBe(-1)
  })

  it('has a place for every key of 300 random sets, and no other key', () => {
    const next = mulberry32(11)
    for (let round = 0; round < 300; round++) {
      const range = 1 + below(next, 400)
      const keys = [...new Set(Array.from({ length: below(next, 40) }, () => below(next, range)))]
      const hash = perfectHash(keys)
      const places = keys.map((key) => placeOfKey(hash, key))
      expect(new Set(places).size).toBe(keys.length)
      expect(places).not.toContain(-1)
      const found = Array.from({ length: range }, (_, key) => key).filter((key) => placeOfKey(hash, key) >= 0)
      expect(found).toEqual(keys.toSorted((a, b) => a - b))
    }
  })
})

describe('static partners', () => {
  it('of a hotspot have a list each, beside one list, and pass less than a list', () => {
    const processes = 64
    const facts = { processes, counts: countSources(reverseSearch(processes, 10), { processes }) }
    const { unexpected } = replayTrace(reverseSearch(processes, 10), { name: 'partners-static' }, facts)
    expect(unexpected).toMatchObject({ partners: 63, queues: 64 })
    expect(unexpected.traversals / unexpected.searches).toBe(5.5)
    const list = replayTrace(reverseSearch(processes, 10), { name: 'list' }, facts).unexpected
    expect(unexpected.traversals).toBeLessThan(list.traversals)
  })

  it('are those of their context only', () => {
    const counts = { posted: new Map(), unexpected: new Map([[2, [0, 9, 1, 0]]]) }
    const design = makeMatchingDesign<QueueElement>({ name: 'partners-static' }, 'unexpected', {
      processes: 4,
      counts,
    })
    expect(design.counters()).toMatchObject({ partners: 1, queues: 2 })
    const [other, partner, rest] = [
      { context: 0, source: 1, tag: 0 },
      { context: 2, source: 1, tag: 0 },
      { context: 2, source: 2, tag: 0 },
    ].map((fields) => new QueueElement(0, fields))
    for (const element of [other, partner, rest]) design.insert(element)
    const passed = [partner, rest, other].map((element) => passedBy(design, () => design.search(element)))
    expect(passed).toEqual([1, 2, 1])
  })
})

describe('dynamic partners', () => {
  const insertAll = (design: RoutedDesign<QueueElement>, ...sources: [source: number, count: number][]) => {
    for (const [source, count] of sources)
      for (let i = 0; i < count; i++) design.insert(elementOf(source, design.size, design.size))
  }
  const made = (over: Partial<DynamicPartnersRule>, processes = 16) => {
    const routing = new DynamicPartners<QueueElement>(processes, { ...unbounded, ...over })
    return { routing, design: new RoutedDesign<QueueElement>(routing, { processes }) }
  }
  const lengths = ({ initial, levels }: DynamicPartners<QueueElement>) =>
    [initial, ...levels].map(({ length }) => length)

  it('get levels as their lists overflow: 0, 1, 2, 2', () => {
    const { routing, design } = made({ slots: 2 })
    const levels = () => design.counters().levels
    expect(levels()).toBe(0)
    insertAll(design, [1, 4], [2, 3], [3, 1])
    expect(levels()).toBe(0)
    insertAll(design, [4, 1])
    expect(levels()).toBe(1)
    expect([1, 2, 3, 4].map((source) => routing.table.get(source)?.level)).toEqual([0, 0, 0, 0])
    insertAll(design, [1, 2], [5, 6], [6, 3])
    expect(levels()).toBe(2)
    expect([5, 6].map((source) => routing.table.get(source)?.level)).toEqual([1, 1])
    expect(routing.table.used).toEqual([1, 2, 2, 1])
    insertAll(design, [9, 9])
    expect(routing.table.get(9)).toBe(undefined)
    expect(levels()).toBe(2)
    insertAll(design, [9, 1], [5, 1])
    expect(lengths(routing)).toEqual([9, 9, 10])
    const newest = (source: number) => {
      const tags = [...routing.chains()].flatMap((chain) => [...chain].filter((e) => e.source === source))
      return elementOf(source, Math.max(...tags.map(({ tag }) => tag)))
    }
    const passed = [1, 5, 9].map((source) => passedBy(design, () => design.peek(newest(source))))
    expect(passed).toEqual([11, 19, 28])
  })

  it('are searched in the initial list, the levels before theirs and their list, in no other', () => {
    const { design } = made({ population: 'nonzero' })
    insertAll(design, [1, 6], [2, 1], [3, 1], [4, 1])
    // Level 0 of partners is made; now level 1.
    insertAll(design, [5, 6], [2, 1], [3, 1], [4, 1])
    insertAll(design, [2, 5], [1, 3], [5, 2])
    const absent = (source: number) => passedBy(design, () => design.search(elementOf(source, 999)))
    expect(absent(1)).toBe(9 + 3)
    expect(absent(5)).toBe(9 + 9 + 2)
    expect(absent(7)).toBe(9 + 9 + 5)
  })

  it('are looked for again only after as many elements as the list had', () => {
    const { routing, design } = made({ threshold: 1, edge: 'median', population: 'nonzero' })
    // All alike: none exceeds the median.
    insertAll(design, [0, 1], [1, 1])
    expect(design.counters().levels).toBe(0)
    insertAll(design, [0, 1])
    expect(routing.table.size).toBe(0)
    insertAll(design, [0, 1], [0, 1])
    expect(routing.table.size).toBe(1)
    // Algorithm 4.3 looks at the next one: 2 of source 0 exceed the median of 2 and 1.
    const { routing: literal, design: always } = made({
      ...{ threshold: 1, edge: 'median', population: 'nonzero', retry: 'always' },
    })
    insertAll(always, [0, 1], [1, 1], [0, 1])
    expect(literal.table.size).toBe(1)
  })

  it('stay within their table, a bucket within its slots; without a bound there is none', () => {
    for (const slots of [1, 2, 3]) {
      const processes = 100
      const { routing, design } = made({ slots, threshold: 4 }, processes)
      for (let source = 0; source < processes; source++) insertAll(design, [source, 3])
      expect(design.counters().partners).toBeLessThanOrEqual(slots * 10)
      expect(Math.max(...routing.table.used)).toBeLessThanOrEqual(slots)
      expect(routing.table.isFull).toBe(true)
    }
    const { design } = made({ threshold: 4 }, 100)
    for (let source = 0; source < 100; source++) insertAll(design, [source, 3])
    expect(design.counters().partners).toBeGreaterThan(90)
    expect([256, 4096].map((processes) => new PartnerTable(processes, 1).buckets)).toEqual([16, 64])
  })
})
