import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { algorithmOf, algorithms, opKind, scheduleOf } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import {
  faultsOf,
  followsTree,
  keepsRankOrder,
  operationsOf,
  shapesOf,
  variants,
} from '../../support/algorithm-checks.js'

/** `npm run soak` executes all up to 33: test/soak/algorithms.soak.ts. */
const someRanks = [1, 2, 3, 4, 6, 8]

describe.each(variants.map((algorithm) => [algorithm.id, algorithm] as const))('%s', (_, algorithm) => {
  test('does what its collective demands, and combines as it claims, for every root', () => {
    for (const ranks of someRanks) {
      for (const segments of [3, 8].includes(ranks) ? [1, 2, 7] : [3]) {
        for (const shape of shapesOf(algorithm, ranks, segments)) {
          expect([shape, faultsOf(algorithm, shape)]).toEqual([shape, []])
        }
      }
    }
  })

  test('emits for a rank alone the operations that the rank has in the whole schedule', () => {
    for (const ranks of [1, 3, 6, 8]) {
      for (const shape of shapesOf(algorithm, ranks, 3).slice(0, 2)) {
        const whole = scheduleOf(algorithm, shape)
        for (let rank = 0; rank < ranks; rank++) {
          const alone = scheduleOf(algorithm, shape, [rank])
          expect(operationsOf(alone, rank)).toEqual(operationsOf(whole, rank))
          expect(alone.opKind.length).toBe(whole.opStart[rank + 1] - whole.opStart[rank])
        }
      }
    }
  })

  test('claims no weaker order than it keeps', () => {
    const claims = new Set(shapesOf(algorithm, 13, 1).map((shape) => algorithm.order?.(shape)))
    const schedules = shapesOf(algorithm, 13, 1).map((shape) => ({
      schedule: scheduleOf(algorithm, shape),
      shape,
    }))
    if (claims.has('any')) {
      expect(schedules.every(({ schedule }) => keepsRankOrder(schedule))).toBe(false)
    }
    if (claims.has('ranks')) {
      expect(schedules.every(({ schedule, shape }) => followsTree(schedule, shape))).toBe(false)
    }
    const isReduction = /reduce|scan/.test(algorithm.collective)
    expect(claims.has(undefined)).toBe(!isReduction && shapesOf(algorithm, 13, 1).length > 0)
  })
})

describe('chains of a broadcast', () => {
  /** The phases of a broadcast, and how many ranks the root sends to. */
  const measured = (fanout: number, ranks: number) => {
    const schedule = scheduleOf(algorithmOf('bcast-chain').with!({ fanout }), { ranks, root: 1 })
    return [schedule.phases, operationsOf(schedule, 1).length]
  }

  test('are as many as the parameter says, and as long as each other within one', () => {
    expect(measured(1, 13)).toEqual([12, 1])
    expect(measured(4, 13)).toEqual([3, 4])
    expect(measured(5, 13)).toEqual([3, 5])
    expect(measured(7, 13)).toEqual([2, 7])
    expect(measured(64, 13)).toEqual([1, 12])
    expect(measured(64, 2)).toEqual([1, 1])
  })

  test('begin where those of Open MPI begin: the longer ones first, of consecutive ranks', () => {
    const { opPeer, opStart } = scheduleOf(algorithmOf('bcast-chain:fanout=5'), { ranks: 13 })
    expect([...opPeer.subarray(0, opStart[1])]).toEqual([1, 4, 7, 9, 11])
  })
})

describe('the k-nomial tree of a broadcast', () => {
  /** Whom each rank sends to, the first phase first. */
  const childrenOf = (radix: number, ranks: number) => {
    const schedule = scheduleOf(algorithmOf('bcast-knomial').with!({ radix }), { ranks })
    return Array.from({ length: ranks }, (_, rank) => {
      const operations = Array.from(
        { length: schedule.opStart[rank + 1] - schedule.opStart[rank] },
        (_, i) => i,
      )
      return operations
        .map((i) => schedule.opStart[rank] + i)
        .filter((op) => schedule.opKind[op] === opKind.send)
        .map((op) => schedule.opPeer[op])
    })
  }

  test('is that of Open MPI', () => {
    // The example of ompi_coll_base_topo_build_kmtree.
    expect(childrenOf(2, 10)).toEqual([[8, 4, 2, 1], [], [3], [], [6, 5], [], [7], [], [9], []])
    expect(childrenOf(3, 10)).toEqual([[9, 3, 6, 1, 2], [], [], [4, 5], [], [], [7, 8], [], [], []])
    expect(childrenOf(4, 10)).toEqual([[4, 8, 1, 2, 3], [], [], [], [5, 6, 7], [], [], [], [9], []])
  })

  test('of radix 2 has as many phases and messages as a binomial one', () => {
    for (const ranks of [1, 2, 3, 5, 8, 13, 16, 33]) {
      const [binary, binomial] = ['bcast-knomial:radix=2', 'bcast-binomial'].map((id) =>
        scheduleOf(algorithmOf(id), { ranks, segments: 3 }),
      )
      expect([binary!.phases, binary!.opKind.length]).toEqual([binomial!.phases, binomial!.opKind.length])
    }
  })
})

describe('participants that are runs of ranks', () => {
  const treeLike = algorithms.filter((algorithm) => algorithm.order?.({ ranks: 4 }) === 'tree')
  const layouts = [
    [0, 2, 4, 6],
    [0, 4, 6, 7],
    [0, 4, 8, 9],
    [0, 1, 2, 4, 8, 11],
    [0, 8, 12, 13],
    [0, 2, 3, 4, 5, 6, 8, 9],
    [0, 3],
    [0, 1, 2, 3, 4, 5],
    [0, 4, 8, 12, 14],
  ]

  test.each(treeLike.map((algorithm) => [algorithm.id, algorithm] as const))(
    '%s keeps the bits of the tree over ranks where it claims to',
    (_, algorithm) => {
      let claimed = 0
      for (const layout of layouts) {
        const shape = { ranks: layout.length - 1, firstRank: Int32Array.from(layout) }
        expect([layout, faultsOf(algorithm, shape)]).toEqual([layout, []])
        if (algorithm.order?.(shape) === 'tree') claimed++
      }
      expect(claimed).toBeGreaterThan(1)
    },
  )

  test.each([[[0, 3, 4]], [[0, 1, 3]], [[0, 2, 5, 8]], [[0, 4, 7, 8]]])(
    'tree algorithms refuse runs %j, which are not nodes of the tree',
    (layout) => {
      const shape = { ranks: layout.length - 1, firstRank: Int32Array.from(layout) }
      expect(() => scheduleOf(algorithmOf('reduce-tree'), shape)).toThrowError(
        expect.objectContaining({
          code: 'ERR_ARGUMENT',
          message: expect.stringContaining('not a node of the tree'),
        }),
      )
      expect(algorithmOf('allreduce-recursive-doubling').order?.(shape)).toBe('ranks')
    },
  )
})

describe('algorithmOf', () => {
  test('finds every algorithm by its id, and every file of one is registered', () => {
    for (const algorithm of algorithms) {
      expect(algorithmOf(algorithm.id)).toBe(algorithm)
      expect(algorithmOf(algorithm.id, algorithm.collective)).toBe(algorithm)
    }
    const folder = fileURLToPath(new URL('../../../src/collective/', import.meta.url))
    const folders = [...new Set(algorithms.map(({ collective }) => collective))]
    const names = folders.flatMap((collective) =>
      readdirSync(join(folder, collective)).map((file) => join(collective, file)),
    )
    const expected = algorithms
      .filter(({ followsGrid = false }) => !followsGrid)
      .map(({ id, collective }) => join(collective, `${id}.ts`))
    expect(names.sort()).toEqual(expected.sort())
  })

  test('an unknown id, or one of another collective, is refused with the known ones', () => {
    const refusal = (message: string) => expect.objectContaining({ code: 'ERR_ARGUMENT', message })
    const idsOf = (name: string) =>
      algorithms.filter(({ collective }) => collective === name).map(({ id }) => id)
    for (const [id, collective] of [
      ['bcast-ternary', 'bcast'],
      ['scan-chain', 'exscan'],
    ] as const)
      expect(() => algorithmOf(id, collective)).toThrowError(
        refusal(`expected an algorithm of ${collective} among ${idsOf(collective).join(', ')}, got '${id}'`),
      )
    expect(() => algorithmOf('x')).toThrowError(/^expected an algorithm among barrier-linear, /)
  })
})
