import { describe, expect, test } from 'vitest'
import { below, mulberry32 } from '../../../../src/base/random.js'
import type { Specification } from '../../../../src/schedule/specification.js'
import { blocksOf, contributorsOf } from '../../../../src/schedule/verify/describe-term.js'
import { ReductionCheck, verdicts } from '../../../../src/schedule/verify/reduction-check.js'
import { Parts, TermTable } from '../../../../src/schedule/verify/term-table.js'

/** Runs of blocks as the specification has them: first, count, stride. */
type Run = readonly [first: number, count: number, stride: number]

/** Ranks with the same number of parts each, or with one more part at rank 0 where `isUneven`. */
function specificationOf(
  ranks: number,
  parts: number,
  reductions: readonly (readonly Run[])[],
  { isIdempotent = false, isUneven = false } = {},
): Specification {
  const runs = reductions.flat()
  const runStart = new Int32Array(reductions.length + 1)
  reductions.forEach((of, i) => {
    runStart[i + 1] = runStart[i] + of.length
  })
  const nothing = new Int32Array(ranks + 1)
  const more = isUneven ? 1 : 0
  return {
    collective: 'reduce',
    ranks,
    partStart: Int32Array.from({ length: ranks + 1 }, (_, r) => (r === 0 ? 0 : r * parts + more)),
    ownStart: nothing,
    ownBlock: new Int32Array(0),
    slotStart: nothing,
    slotTerm: new Int32Array(0),
    reductions: {
      isIdempotent,
      runStart,
      first: Int32Array.from(runs, ([first]) => first),
      count: Int32Array.from(runs, ([, count]) => count),
      stride: Int32Array.from(runs, ([, , stride]) => stride),
    },
  }
}

const demandedOf = (runs: readonly Run[]): number[] =>
  runs.flatMap(([first, count, stride]) => Array.from({ length: count }, (_, n) => first + n * stride))

const sorted = (blocks: readonly number[]): string => `${[...blocks].sort((a, b) => a - b)}`

/** The verdict by what a term and a reduction combine, written out. */
function expectedVerdict(
  blocks: readonly number[],
  demanded: readonly number[],
  isIdempotent: boolean,
): number {
  if (`${blocks}` === `${demanded}`) return verdicts.ordered
  const counted = isIdempotent ? [...new Set(blocks)] : blocks
  return sorted(counted) === sorted(demanded) ? verdicts.unordered : verdicts.wrong
}

/** The term of a sequence of blocks, associated at random. */
function termOf(terms: TermTable, blocks: readonly number[], random: () => number): number {
  if (blocks.length === 1) return blocks[0]
  const cut = 1 + below(random, blocks.length - 1)
  return terms.combined(termOf(terms, blocks.slice(0, cut), random), termOf(terms, blocks.slice(cut), random))
}

function shuffled(blocks: readonly number[], random: () => number): number[] {
  const all = [...blocks]
  for (let i = all.length - 1; i > 0; i--) {
    const j = below(random, i + 1)
    ;[all[i], all[j]] = [all[j], all[i]]
  }
  return all
}

/** Random runs of one part: consecutive ranks, also around the end, every other rank, or several runs. */
function randomRuns(ranks: number, parts: number, part: number, random: () => number): Run[] {
  const block = (rank: number): number => (rank % ranks) * parts + part
  const first = below(random, ranks)
  const count = 1 + below(random, ranks)
  switch (below(random, 4)) {
    case 0:
      return [[block(0), ranks, parts]]
    case 1:
      if (first + count <= ranks) return [[block(first), count, parts]]
      return [
        [block(first), ranks - first, parts],
        [block(0), first + count - ranks, parts],
      ]
    case 2:
      return [[block(0), Math.ceil(ranks / 2), 2 * parts]]
    default:
      return shuffled([...Array(ranks).keys()], random)
        .slice(0, count)
        .map((rank) => [block(rank), 1, 0] as const)
  }
}

/** A demanded sequence unchanged, turned around, in another order, or with one block more, less or other. */
function changed(demanded: readonly number[], ranks: number, parts: number, random: () => number): number[] {
  const at = below(random, demanded.length)
  const other = below(random, ranks) * parts + (demanded[0] % parts)
  switch (below(random, 8)) {
    case 0:
    case 1:
      return [...demanded]
    case 2:
      return [...demanded.slice(at), ...demanded.slice(0, at)]
    case 3:
      return shuffled(demanded, random)
    case 4:
      return [...demanded, other]
    case 5:
      return demanded.length === 1 ? [...demanded] : demanded.filter((_, i) => i !== at)
    case 6:
      return demanded.map((block, i) => (i === at ? other : block))
    default:
      return [...demanded].reverse()
  }
}

describe('ReductionCheck', () => {
  test.each([
    ['each once', false],
    ['each at least once', true],
  ])('agrees with sequences written out, %s', (_, isIdempotent) => {
    const random = mulberry32(7)
    const seen = [0, 0, 0]
    for (let i = 0; i < 1400; i++) {
      const [ranks, parts] = [1 + below(random, 7), 1 + below(random, 3)]
      const runs = randomRuns(ranks, parts, below(random, parts), random)
      const terms = new TermTable(specificationOf(ranks, parts, [runs], { isIdempotent }))
      const check = new ReductionCheck(specificationOf(ranks, parts, [runs], { isIdempotent }), terms)
      const demanded = demandedOf(runs)
      // No verdict depends on those before it.
      for (let n = 0; n < 3; n++) {
        const blocks = changed(demanded, ranks, parts, random)
        const term = termOf(terms, blocks, random)
        const verdict = check.verdict(term, 0)
        seen[verdict]++
        const expected = expectedVerdict(blocks, demanded, isIdempotent)
        expect([blocks, demanded, verdict]).toEqual([blocks, demanded, expected])
        expect(check.verdict(term, 0)).toBe(verdict)
        expect([...blocksOf(terms, term)]).toEqual(blocks)
        expect(terms.blocksIn(term)).toBe(blocks.length)
        expect(
          sorted([...contributorsOf(terms, term)].flatMap(([rank, times]) => Array(times).fill(rank))),
        ).toBe(sorted(blocks.map((block) => Math.floor(block / parts))))
      }
    }
    for (const count of seen) expect(count).toBeGreaterThan(200)
  })

  test('tells reductions apart that a term is compared with in turn', () => {
    // Not consecutive: ranks 0 and 2, ranks 2 and 0, ranks 0 and 3.
    const specification = specificationOf(5, 1, [[[0, 2, 2]], [[2, 2, -2]], [[0, 2, 3]]])
    const terms = new TermTable(specification)
    const check = new ReductionCheck(specification, terms)
    const term = terms.combined(0, 2)
    for (let i = 0; i < 2; i++) {
      expect([0, 1, 2].map((reduction) => check.verdict(term, reduction))).toEqual([
        verdicts.ordered,
        verdicts.unordered,
        verdicts.wrong,
      ])
    }
    expect([0, 1, 2].map((reduction) => check.spanOf(reduction))).toEqual([0, 0, 0])
  })

  test('decides by parts where ranks have different numbers of them', () => {
    // Rank 0 has blocks 0 to 2, rank 1 blocks 3 and 4, rank 2 blocks 5 and 6.
    const specification = specificationOf(
      3,
      2,
      [
        [
          [1, 1, 0],
          [4, 2, 2],
        ],
      ],
      { isUneven: true },
    )
    const terms = new TermTable(specification)
    const check = new ReductionCheck(specification, terms)
    expect(check.partOf(0)).toBe(1)
    expect(check.verdict(terms.combined(terms.combined(1, 4), 6), 0)).toBe(verdicts.ordered)
    expect(check.verdict(terms.combined(1, terms.combined(6, 4)), 0)).toBe(verdicts.unordered)
    expect(check.verdict(terms.combined(0, terms.combined(3, 5)), 0)).toBe(verdicts.wrong)
  })

  test('knows consecutive ranks, also around the end, without a look at the blocks', () => {
    const single = specificationOf(6, 1, [[[1, 3, 1]]])
    expect(new ReductionCheck(single, new TermTable(single)).spanOf(0)).toBe(3)
    const specification = specificationOf(6, 2, [
      [[3, 3, 2]],
      [
        [9, 2, 2],
        [1, 1, 0],
      ],
      [[1, 3, 4]],
    ])
    const check = new ReductionCheck(specification, new TermTable(specification))
    expect([0, 1, 2].map((reduction) => [check.firstOf(reduction), check.spanOf(reduction)])).toEqual([
      [1, 3],
      [4, 3],
      [0, 0],
    ])
  })
})

describe('TermTable', () => {
  test('knows of every part an unknown term, of which combinations are unknown, too', () => {
    const terms = new TermTable(specificationOf(4, 3, []))
    const unknown = terms.unknown(2)
    expect(terms.unknown(2)).toBe(unknown)
    expect(terms.unknown(1)).not.toBe(unknown)
    const combined = terms.combined(unknown, 5)
    expect([unknown, terms.unknown(1), combined]).toEqual([~0, ~1, ~2])
    for (const term of [unknown, combined]) {
      expect([terms.isUnknown(term), terms.partOf(term), terms.spanOf(term)]).toEqual([true, 2, 0])
    }
    expect([terms.isUnknown(5), terms.isUnknown(terms.combined(2, 5))]).toEqual([false, false])
  })

  test('does not count more than 2^30 blocks', () => {
    const terms = new TermTable(specificationOf(2, 1, []))
    let term = 0
    for (let i = 0; i < 40; i++) term = terms.combined(term, term)
    expect(terms.blocksIn(term)).toBe(2 ** 30)
    expect(contributorsOf(terms, term)).toEqual(new Map([[0, 2 ** 40]]))
  })
})

describe('Parts', () => {
  test('finds origin and part of every block, of equally many parts or not', () => {
    for (const isUneven of [false, true]) {
      const specification = specificationOf(4, 3, [], { isUneven })
      const parts = new Parts(specification)
      expect(parts.perRank).toBe(isUneven ? 0 : 3)
      const { partStart } = specification
      for (let rank = 0; rank < 4; rank++) {
        for (let block = partStart[rank]; block < partStart[rank + 1]; block++) {
          expect([parts.originOf(block), parts.partOf(block)]).toEqual([rank, block - partStart[rank]])
        }
      }
    }
  })
})
