import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../../src/base/random.js'
import { type DecisionMap, decisionMap, filledMap } from '../../../../src/tuning/learning/decision-map.js'
import {
  decideByQuadtree,
  decisionTreeOf,
  learnQuadtree,
  type QuadtreeOptions,
  quadtreeBytes,
  quadtreeNodes,
  quadtreeStatistics,
} from '../../../../src/tuning/learning/quadtree.js'
import { selectCalls } from '../../../../src/tuning/measured/measured-data.js'
import { penaltyOf } from '../../../../src/tuning/measured/penalty.js'
import { callProcesses } from '../../../../src/tuning/settings/tuning-call.js'
import { bestAllgather } from '../../../support/grig-allgather.js'
import { refusal } from '../../../support/refusal.js'
import { leafOf } from '../../../support/tree-walks.js'
import { gridData, integersTo, powersOfTwo } from '../../../support/tuning-data.js'

/** A map by its rows, the one of most processes first, as on paper. A letter is a setting. */
function mapOf(...rows: readonly string[]): DecisionMap {
  const cells = rows.toReversed().map((row) => [...row].map((letter) => letter.charCodeAt(0) - 97))
  const [first] = cells
  return decisionMap(
    gridData(integersTo(cells.length), powersOfTwo(first.length), 4, (P, m) => cells[P - 1][Math.log2(m)]),
  )
}

/** What a tree decides for every cell of its map, as `mapOf` takes it. */
function drawn(map: DecisionMap, options?: QuadtreeOptions): string[] {
  const tree = learnQuadtree(map, options)
  const letter = (P: number, m: number) => String.fromCharCode(97 + decideByQuadtree(tree, P, m))
  return tree.processes.map((P) => tree.bytes.map((m) => letter(P, m)).join('')).toReversed()
}

describe('an exact quadtree', () => {
  const shapes = [1, 2, 3, 4, 7, 8, 13, 16, 49].flatMap((rows) =>
    [1, 2, 5, 8, 38].map((columns): readonly [number, number] => [rows, columns]),
  )

  it.each(shapes)('of %i x %i cells has every one of them, and bounded depth', (rows, columns) => {
    const draw = seededRandom(rows * 100 + columns)
    const cells = Array.from({ length: rows * columns }, () => Math.floor(draw() * 4))
    const data = gridData(
      integersTo(rows),
      powersOfTwo(columns),
      4,
      (P, m) => cells[(P - 1) * columns + Math.log2(m)],
    )
    const map = decisionMap(data)
    const tree = learnQuadtree(map)
    for (const [row, P] of tree.processes.entries())
      for (const [column, m] of tree.bytes.entries())
        expect(decideByQuadtree(tree, P, m)).toBe(map.choice[row * columns + column])
    const { leaves, nodes, maxDepth } = quadtreeStatistics(tree)
    expect(tree.side).toBeLessThan(2 * Math.max(rows, columns))
    expect(maxDepth).toBeLessThanOrEqual(Math.ceil(Math.log2(tree.side ** 2) / 2))
    expect(nodes).toBe((4 * leaves - 1) / 3)
    const percents = penaltyOf(data, ({ nodes: P, bytes }) => decideByQuadtree(tree, P, bytes))
    expect(percents.maxPercent).toBe(0)
  })

  it('has depth 6 on 64 x 64 cells', () => {
    const map = decisionMap(gridData(integersTo(49), powersOfTwo(38), 4, bestAllgather))
    const tree = learnQuadtree(map)
    expect([tree.side, quadtreeStatistics(tree).maxDepth]).toEqual([64, 6])
  })

  it('counts what lies between two values as the larger, and what lies outside as the nearest', () => {
    const tree = learnQuadtree(
      decisionMap(gridData([2, 8], [16, 64], 4, (P, m) => (P > 2 ? 2 : 0) + (m > 16 ? 1 : 0))),
    )
    const at = (P: number, m: number) => decideByQuadtree(tree, P, m)
    expect([at(2, 16), at(3, 16), at(2, 17), at(3, 17)]).toEqual([0, 2, 1, 3])
    expect([at(1, 0), at(1000, 0), at(1, 2 ** 40), at(2 ** 22, 2 ** 40)]).toEqual([0, 2, 1, 3])
  })
})

describe('a square that is not quartered', () => {
  const leaf = (...rows: readonly string[]) => learnQuadtree(mapOf(...rows), { maxDepth: 0 }).root

  it('takes the setting of most cells', () => {
    expect(leaf('ba', 'aa')).toEqual({ kind: 'leaf', setting: 0 })
    expect(leaf('ab', 'aa')).toEqual({ kind: 'leaf', setting: 0 })
  })

  it('of equally many takes the one in the upper right cell', () => {
    expect(leaf('ab', 'ab')).toEqual({ kind: 'leaf', setting: 1 })
    expect(leaf('bc', 'ad')).toEqual({ kind: 'leaf', setting: 2 })
  })

  it('takes the lowest setting where the one in the upper right is not among them', () => {
    expect(leaf('aaad', 'aabb', 'bbbc', 'cccc')).toEqual({ kind: 'leaf', setting: 0 })
    expect(leaf('bbba', 'bbcc', 'cccd', 'dddd')).toEqual({ kind: 'leaf', setting: 1 })
  })
})

describe('a bounded depth', () => {
  const rows = ['aaab', 'aabb', 'accc', 'cccc']

  it('blurs what is smaller than its squares', () => {
    expect(drawn(mapOf(...rows), { maxDepth: 1 })).toEqual(['aabb', 'aabb', 'cccc', 'cccc'])
    expect(drawn(mapOf(...rows), { maxDepth: 2 })).toEqual(rows)
  })

  it('has the mean depth of its leaves, each counted once', () => {
    // One quarter at depth 1, and 12 leaves at depth 2: as in the second row of Table 6.4.
    const map = mapOf('aaab', 'aaba', 'abab', 'baba')
    const statistics = quadtreeStatistics(learnQuadtree(map))
    expect(statistics).toEqual({ leaves: 13, nodes: 17, minDepth: 1, meanDepth: 25 / 13, maxDepth: 2 })
    expect(statistics.meanDepth.toFixed(2)).toBe('1.92')
  })
})

describe('a threshold', () => {
  const rows = ['aaab', 'aaaa', 'accc', 'cccc']

  it('ends where that share of the cells agrees', () => {
    expect(drawn(mapOf(...rows), { threshold: 0.75 })).toEqual(['aaaa', 'aaaa', 'cccc', 'cccc'])
    expect(drawn(mapOf(...rows), { threshold: 0.76 })).toEqual(rows)
    expect(drawn(mapOf(...rows), { threshold: 0.5 })).toEqual(['aaaa', 'aaaa', 'aaaa', 'aaaa'])
  })
})

it('four quarters with one setting become a leaf', () => {
  // Of each quarter most cells are a, as of none of their four neighbors.
  const tree = learnQuadtree(mapOf('aaab', 'abaa', 'aaba', 'baaa'), { maxDepth: 1 })
  expect(tree.root).toEqual({ kind: 'leaf', setting: 0 })
  const nested = learnQuadtree(mapOf('aaab', 'abaa', 'ccba', 'ccaa'), { maxDepth: 1 })
  expect(quadtreeStatistics(nested)).toMatchObject({ leaves: 4, nodes: 5 })
})

describe('nodes and memory', () => {
  it('are those of Pjesivac-Grbovic 2007, tables 6.4 (Frodo) and 6.5 (Grig)', () => {
    // At depth 5 the latter prints 227 leaves for 277, which no quadtree has.
    const leaves = [4, 13, 22, 91, 328, 1153, 16, 37, 106, 277, 1024]
    expect(leaves.map(quadtreeNodes)).toEqual([5, 17, 29, 121, 437, 1537, 21, 49, 141, 369, 1365])
    expect(Number.isInteger(quadtreeNodes(227))).toBe(false)
  })

  it('take the bytes of table 6.6, which prints tests of the compiled tree, one less than nodes', () => {
    const bytes = [4, 12, 68, 136, 264, 884].map((tests) => quadtreeBytes(tests + 1, 64, 36))
    expect(bytes).toEqual([712, 1096, 3784, 7048, 13_192, 42_952])
  })
})

it('as a tree of tests it decides alike, on the grid and off it', () => {
  const draw = seededRandom(3)
  for (const [rows, columns, maxDepth] of [
    [1, 1, 10],
    [5, 3, 10],
    [2, 38, 10],
    [49, 4, 3],
    [13, 17, 2],
    [25, 48, 10],
  ] as const) {
    const choice = Int32Array.from({ length: rows * columns }, () => Math.floor(draw() * 4))
    const bytes = integersTo(columns).map((i) => 3 * i)
    const processes = integersTo(rows).map((i) => 2 * i)
    const data = gridData(processes, bytes, 4, (P, m) => choice[(P / 2 - 1) * columns + m / 3 - 1])
    const quadtree = learnQuadtree(decisionMap(data), { maxDepth })
    const tree = decisionTreeOf(quadtree)
    for (let P = 1; P <= 2 * rows + 3; P++)
      for (let m = 0; m <= 3 * columns + 4; m++) {
        const call = { collective: 'bcast', nodes: P, processesPerNode: 1, bytes: m } as const
        expect(leafOf(tree, call).setting).toBe(decideByQuadtree(quadtree, callProcesses(call), m))
      }
  }
})

describe('a quadtree refuses', () => {
  const data = gridData([2, 4, 8], [1, 2, 4], 2, () => 0)
  const map = decisionMap(data)

  it('a map with missing cells, which filledMap fills', () => {
    const gap = decisionMap(selectCalls(data, ({ nodes, bytes }) => nodes !== 4 || bytes !== 2))
    expect(() => learnQuadtree(gap)).toThrow(refusal('ERR_TUNING'))
    expect(learnQuadtree(filledMap(gap)).root).toEqual({ kind: 'leaf', setting: 0 })
  })

  it('more than 1,024 rows or columns', () => {
    const bytes = integersTo(1025)
    expect(() => learnQuadtree(decisionMap(gridData([2], bytes, 1, () => 0)))).toThrow(/at most 1024 rows/)
    expect(
      quadtreeStatistics(
        learnQuadtree(decisionMap(gridData([2], bytes.slice(1), 2, (_, m) => (m > 600 ? 1 : 0)))),
      ).maxDepth,
    ).toBe(10)
  })

  it.each<[string, QuadtreeOptions]>([
    ['a depth of -1', { maxDepth: -1 }],
    ['a depth of 11', { maxDepth: 11 }],
    ['half a level', { maxDepth: 0.5 }],
    ['a threshold of 0', { threshold: 0 }],
    ['a threshold above 1', { threshold: 1.01 }],
  ])('%s', (_, options) => {
    expect(() => learnQuadtree(map, options)).toThrow(refusal('ERR_ARGUMENT'))
  })
})
