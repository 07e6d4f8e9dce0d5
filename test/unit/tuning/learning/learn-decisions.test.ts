import { describe, expect, it } from 'vitest'
import {
  type LearnDecisionsOptions,
  learnDecisions,
} from '../../../../src/tuning/learning/learn-decisions.js'
import { quadtreeStatistics } from '../../../../src/tuning/learning/quadtree.js'
import type { Measurement } from '../../../../src/tuning/measured/measurement.js'
import { leafConditions } from '../../../../src/tuning/models/decision-tree.js'
import { settingLine } from '../../../../src/tuning/settings/setting.js'
import { refusal } from '../../../support/refusal.js'
import { integersTo, measurementOf, powersOfTwo } from '../../../support/tuning-data.js'
import { exampleTrees } from '../../../support/tuning-trees.js'

/** Up to 1 KiB a is the best, by 50%; above b is. The default is b everywhere. */
function measured(given: Partial<Measurement> = {}, counts = [2, 4, 8, 16]): Measurement[] {
  return counts.flatMap((nodes) =>
    powersOfTwo(16).flatMap((bytes) => {
      const [a, b] = bytes <= 1024 ? [10, 15] : [20, 10]
      return (
        [
          ['bcast-a', a],
          ['bcast-b', b],
          ['default', b * 1.01],
          ['bcast-c', 100],
        ] as const
      ).map(([algorithm, timeUs]) =>
        measurementOf({ algorithm, nodes, processesPerNode: 1, bytes, timeUs, ...given }),
      )
    }),
  )
}

const learned = (options: LearnDecisionsOptions = {}, data = measured()) => learnDecisions(data, options)[0]

describe('decisions of measurements', () => {
  it.each<LearnDecisionsOptions>([
    {},
    { learner: 'c45' },
    { learner: 'quadtree' },
    { learner: 'c45', attributes: 'plain', minCases: 1, confidencePercent: null },
  ])('by %j choose what is best, and lose nothing on held-out points', (options) => {
    const { tree, leaves, training, heldOut, default: byDefault } = learned(options)
    expect(tree.settings.map(settingLine)).toEqual(['bcast-a', 'bcast-b'])
    // A quadtree tests processes before bytes.
    expect(leaves).toBe(options.learner === 'quadtree' ? 18 : 2)
    expect(training).toMatchObject({ calls: 64, missing: 0, maxPercent: 0 })
    expect(heldOut?.heldOut).toMatchObject({ calls: 64, missing: 0, maxPercent: 0 })
    expect(byDefault!.maxPercent).toBeCloseTo(51.5)
    expect(byDefault!.minPercent).toBeCloseTo(1)
  })

  it('by a quadtree have the fastest setting of every call, unless a tolerance lets another stand for it', () => {
    // bcast-b is 3% faster at 1 byte alone.
    const data = [1, 2, 4, 8].flatMap((nodes) =>
      powersOfTwo(4).flatMap((bytes) =>
        (['bcast-a', 'bcast-b'] as const).map((algorithm) => {
          const isSlow = (algorithm === 'bcast-b') !== (bytes === 1)
          return measurementOf({ algorithm, nodes, processesPerNode: 1, bytes, timeUs: isSlow ? 10.3 : 10 })
        }),
      ),
    )
    const [exact, tolerant] = [undefined, 5].map((tolerancePercent) =>
      learned({ learner: 'quadtree', tolerancePercent }, data),
    )
    expect(exact.training.maxPercent).toBe(0)
    expect(quadtreeStatistics(exact.quadtree!)).toMatchObject({
      leaves: 10,
      nodes: 13,
      minDepth: 1,
      maxDepth: 2,
    })
    expect(tolerant.training.maxPercent).toBeCloseTo(3)
    expect(quadtreeStatistics(tolerant.quadtree!).leaves).toBe(1)
    expect(learned({ learner: 'c45' }, data).quadtree).toBeNull()
  })

  it('by one tree over all collectives share leaves; what a collective does not have is its default', () => {
    const renamed = (collective: 'allgather' | 'alltoall', b: string) =>
      measured().map((one): Measurement => {
        const algorithm = one.algorithm.replace('bcast-', `${collective}-`).replace(/-b$/, `-${b}`)
        return { ...one, collective, algorithm }
      })
    const options = { learner: 'c45', isTogether: true } as const
    const alike = learnDecisions([...measured(), ...renamed('allgather', 'b')], options)
    expect(alike.map(({ collective, tree }) => [collective, tree.settings.map(settingLine)])).toEqual([
      ['allgather', ['allgather-a', 'allgather-b']],
      ['bcast', ['bcast-a', 'bcast-b']],
    ])
    for (const { combined, training, heldOut } of alike) {
      expect(combined).toMatchObject({ cases: 128, leaves: 2, trainingErrors: 0 })
      expect([training.maxPercent, training.missing, heldOut]).toEqual([0, 0, null])
    }
    // Without pruning back, one test more tells collectives whose algorithms differ apart.
    const differing = learnDecisions([...measured(), ...renamed('alltoall', 'c2')], options)
    expect(differing[0].combined?.leaves).toBe(3)
    expect(differing.map(({ training }) => training.maxPercent)).toEqual([0, 0])
    // A leaf of the whole tree names what most have: the others fall back to their default.
    const [alltoall] = learnDecisions([...measured(), ...renamed('alltoall', 'c2')], {
      ...options,
      maxDepth: 0,
    })
    expect(alltoall.tree.settings.map(settingLine)).toEqual(['alltoall-a'])
    const [none] = learnDecisions(
      [
        ...measured(),
        ...measured().map((one) => ({ ...one, nodes: 3 * one.nodes })),
        ...renamed('alltoall', 'c2').filter(({ algorithm }) => algorithm !== 'alltoall-a'),
      ],
      { ...options, maxDepth: 0 },
    )
    expect(none.tree.settings.map(settingLine)).toEqual(['default'])
    expect(() => learnDecisions(measured(), { isTogether: true })).toThrow(refusal('ERR_ARGUMENT'))
  })

  it.each(['least-penalty', 'c45'] as const)(
    'by %s count segments longer than the data as whole data, which calls by them send',
    (learner) => {
      const of = (bytes: number, algorithm: string, timeUs: number, segment?: number) =>
        measurementOf({
          ...{ algorithm, bytes, timeUs, nodes: 4, processesPerNode: 1 },
          parameters: segment === undefined ? {} : { segment },
        })
      const data = powersOfTwo(8).flatMap((bytes) =>
        bytes <= 16
          ? [of(bytes, 'default', 10), of(bytes, 'bcast-a', 50)]
          : [of(bytes, 'default', 20), of(bytes, 'bcast-a', 50), of(bytes, 'bcast-a', 10, 16)],
      )
      const [{ tree, training }] = learnDecisions(data, { learner })
      expect(tree.settings.map(settingLine)).toEqual(['bcast-a:segment=16', 'default'])
      expect(training).toMatchObject({ missing: 0, maxPercent: 0 })
    },
  )

  it('have a tree for each collective, by name', () => {
    const both = [...measured(), ...measured({ collective: 'allgather' })]
    expect(learnDecisions(both).map(({ collective }) => collective)).toEqual(['allgather', 'bcast'])
  })

  it('have as default the rule where that was not measured, and none where it is not known', () => {
    const data = measured().filter(({ algorithm }) => algorithm !== 'default')
    expect(learned({}, data).default).toBeNull()
    const ruled = learned({ ruleOf: () => ({ algorithm: 'bcast-a', parameters: {} }) }, data).default
    expect(ruled).toMatchObject({ calls: 64, missing: 0, minPercent: 0, maxPercent: 100 })
    const other = learned({ ruleOf: () => ({ algorithm: 'bcast-d', parameters: {} }) }, data).default
    expect(other).toMatchObject({ calls: 0, missing: 64 })
    expect(learned({ ruleOf: () => null }, data).default).toMatchObject({ missing: 64 })
  })

  it('count with the default where the chosen setting has no time', () => {
    const data = measured().filter(
      ({ algorithm, nodes, bytes }) => algorithm !== 'bcast-a' || nodes !== 16 || bytes > 64,
    )
    const { training } = learned({ minCases: 20 }, data)
    expect(training).toMatchObject({ missing: 0 })
    expect(training.maxPercent).toBeGreaterThan(0)
  })

  it('have no held-out penalty of one number of processes', () => {
    expect(learned({}, measured({}, [4])).heldOut).toBeNull()
  })

  it('are held out in as many folds as asked', () => {
    expect(learned({ folds: 2 }).heldOut?.folds.map(({ processes }) => processes)).toEqual([
      [2, 8],
      [4, 16],
    ])
    expect(() => learned({ folds: 5 })).toThrow(refusal('ERR_ARGUMENT'))
  })

  it('follow noise no further than the tolerance', () => {
    const noisy = measured().map((one) =>
      one.algorithm === 'bcast-c' && one.bytes === 4 ? { ...one, ...timed(9.8) } : one,
    )
    expect(learned({ learner: 'c45', tolerancePercent: 5 }, noisy).leaves).toBe(2)
    const byHeart = { learner: 'c45', tolerancePercent: 0, minCases: 1, confidencePercent: null } as const
    expect(learned(byHeart, noisy).leaves).toBeGreaterThan(2)
  })

  it.each<[string, Measurement[], LearnDecisionsOptions, string]>([
    ['no data', [], {}, 'ERR_MEASUREMENT'],
    [
      'data of two sources',
      [
        ...measured(),
        measurementOf({ collective: 'reduce', source: { kind: 'mpi', name: 'b', machine: 'c' } }),
      ],
      {},
      'ERR_MEASUREMENT',
    ],
    ['an unknown learner', measured(), { learner: 'guess' as never }, 'ERR_ARGUMENT'],
    ['a tolerance below 0', measured(), { learner: 'c45', tolerancePercent: -1 }, 'ERR_ARGUMENT'],
    ['a threshold of 0', measured(), { learner: 'quadtree', threshold: 0 }, 'ERR_ARGUMENT'],
    [
      'two spreads for a quadtree',
      [...measured(), measurementOf({ nodes: 1, processesPerNode: 4 })],
      { learner: 'quadtree' },
      'ERR_TUNING',
    ],
  ])('of %s are refused', (_, data, options, code) => {
    expect(() => learnDecisions(data, options)).toThrow(refusal(code))
  })

  function timed(us: number) {
    return { timesUs: [us], intervalUs: [us, us] as const }
  }
})

describe('the conditions of leaves', () => {
  it('are those of the tests on their paths', () => {
    const data = integersTo(4).flatMap((processesPerNode) =>
      powersOfTwo(12).flatMap((bytes) =>
        [0, 1].map((n) =>
          measurementOf({
            ...{ algorithm: `bcast-${n}`, processesPerNode, bytes },
            timeUs: (bytes > 8 && bytes <= 256 && processesPerNode > 2 ? 1 : 0) === n ? 1 : 2,
          }),
        ),
      ),
    )
    const { tree } = learned(
      { learner: 'c45', attributes: 'plain', minCases: 1, confidencePercent: null },
      data,
    )
    const conditions = leafConditions(tree)
    expect(conditions).toContain('processesPerNode > 2, 8 < bytes <= 256')
    for (const [, example] of exampleTrees()) expect(leafConditions(example)[0]).not.toBe('')
    expect(leafConditions(exampleTrees().get('one_leaf')!)).toEqual(['every call'])
  })
})
