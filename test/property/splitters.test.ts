import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/base/random.js'
import {
  evenTargets,
  regularSample,
  Seeker,
  SplitterOwner,
  sampledWindows,
  verdictWords,
} from '../../src/comm/split/exact-cuts.js'
import { rowsBetween, type SplitRows, sortRows } from '../../src/comm/split/rows.js'
import { sortRuns } from '../../src/comm/split/sort-runs.js'
import { cases } from '../support/soak.js'

const entry = fc.tuple(
  fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom(0, 2 ** 31 - 1)),
  fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(-(2 ** 31), 2 ** 31 - 1), fc.integer()),
)

function sortedRows({ words, width }: SplitRows): SplitRows {
  return { words: sortRows(width, words.slice(), new Int32Array(words.length), 3), width }
}

/** Sorted lists whose ranks ascend from list to list, or are dealt to them in turn. */
const lists = fc
  .tuple(fc.array(fc.array(entry, { maxLength: 40 }), { minLength: 1, maxLength: 24 }), fc.boolean())
  .map(([all, isDealt]) => {
    let ascending = 0
    return all.map((entries, list): SplitRows => {
      const words = entries.flatMap(([color, key], i) => [
        color,
        key,
        isDealt ? i * all.length + list : ascending++,
      ])
      return sortedRows({ width: 3, words: Int32Array.from(words) })
    })
  })

function concatenated(all: readonly SplitRows[]): { words: Int32Array; bounds: number[] } {
  const bounds = [0]
  for (const { words } of all) bounds.push(bounds[bounds.length - 1] + words.length)
  const words = new Int32Array(bounds[bounds.length - 1])
  all.forEach((rows, k) => {
    words.set(rows.words, bounds[k])
  })
  return { words, bounds }
}

describe('exact splitters', () => {
  /** Rows that an owner asks for, samples of a list that narrow the search before it begins; 0: neither. */
  const shortcuts = fc.record({
    fewRows: fc.constantFrom(0, 0, 1, 5, 40),
    most: fc.constantFrom(0, 0, 1, 3, 30),
  })

  it('cut all lists into full slices, within the bounds on rounds and on the remainder of each', () => {
    fc.assert(
      fc.property(lists, shortcuts, (all, { fewRows, most }) => {
        const p = all.length
        const whole = concatenated(all)
        const total = whole.words.length / 3
        const targets = evenTargets(total, p)
        const seekers = all.map((rows) => new Seeker(rows, targets))
        const owners = all.map((_, k) => new SplitterOwner(targets[k], fewRows))
        const samples = all.map((rows) => regularSample(rows, most))
        const lengths = all.map(({ words }) => words.length / 3)
        for (const [i, seeker] of seekers.entries()) {
          if (most === 0) continue
          sampledWindows(all[i], samples, lengths, targets).forEach(({ from, to }, k) => {
            if (k < p) seeker.narrow(k, from, to)
          })
        }
        while (!seekers[0].isDone) {
          const answers = seekers.map((seeker) => seeker.answers())
          const verdicts = new Int32Array(p * verdictWords)
          owners.forEach((owner, k) => {
            verdicts.set(owner.decide(answers.map((of) => of[k])), k * verdictWords)
          })
          for (const seeker of seekers) seeker.apply(verdicts)
        }
        const sorted = sortedRows({ width: 3, words: whole.words })
        for (let k = 0; k < p; k++) {
          const pieces = seekers.map(({ cuts }, i) => rowsBetween(all[i], cuts[k], cuts[k + 1]))
          const slice = sortedRows({
            width: 3,
            words: Int32Array.from(pieces.flatMap((piece) => [...piece])),
          })
          expect([...slice.words]).toEqual([...rowsBetween(sorted, targets[k], targets[k + 1])])
          expect(owners[k].worstRemainder).toBeLessThanOrEqual(3 / 4)
          expect(owners[k].rounds).toBeLessThanOrEqual(Math.log(Math.max(1, total)) / Math.log(4 / 3) + 1)
        }
      }),
      { numRuns: cases(500) },
    )
  })
})

/** Keys of every kind of spread: even, all in one place but a few, the same throughout. */
const spreadOfKeys = fc.constantFrom<(draw: () => number) => number>(
  (draw) => Math.floor((draw() - 0.5) * 2 ** 32),
  (draw) => (draw() < 0.01 ? 2 ** 31 - 1 : Math.floor(draw() * 50)),
  (draw) => Math.floor(2 ** 31 * draw() ** 40),
  () => -(2 ** 31),
)

describe('sorting many rows', () => {
  it('orders by color, key and rank for any distribution of keys', () => {
    const manyRows = fc.record({
      rows: fc.integer({ min: 60, max: 3000 }),
      runs: fc.integer({ min: 3, max: 20 }),
      colors: fc.constantFrom(1, 1, 3, 5000),
      width: fc.constantFrom(3 as const, 4 as const),
      key: spreadOfKeys,
      seed: fc.nat(),
    })
    fc.assert(
      fc.property(manyRows, ({ rows, runs, colors, width, key, seed }) => {
        const draw = seededRandom(seed)
        const all = Array.from({ length: runs }, (_, run): SplitRows => {
          const words: number[] = []
          for (let rank = run; rank < rows; rank += runs) {
            words.push(Math.floor(draw() * colors), key(draw), rank)
            if (width === 4) words.push(rank * 7)
          }
          return sortedRows({ width, words: Int32Array.from(words) })
        })
        const { words, bounds } = concatenated(all)
        const expected = sortedRows({ width, words })
        expect([...sortRuns(width, words.slice(), bounds, new Int32Array(words.length))]).toEqual([
          ...expected.words,
        ])
      }),
      { numRuns: cases(100) },
    )
  })
})
