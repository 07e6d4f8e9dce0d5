import { describe, expect, it } from 'vitest'
import { treeText } from '../../../../bench/tuning/tree-text.js'
import { seededRandom } from '../../../../src/base/random.js'
import {
  type LearnedTree,
  type LearnTreeOptions,
  learnTree,
  pessimisticErrors,
} from '../../../../src/tuning/learning/learn-tree.js'
import { bestCases } from '../../../../src/tuning/learning/training-cases.js'
import { type MeasuredData, measuredData } from '../../../../src/tuning/measured/measured-data.js'
import { treeLeaves, visitNodes } from '../../../../src/tuning/models/decision-tree.js'
import {
  type Attribute,
  allAttributes,
  plainAttributes,
} from '../../../../src/tuning/settings/tuning-call.js'
import { bestAllgather } from '../../../support/grig-allgather.js'
import { refusal } from '../../../support/refusal.js'
import { depthOf, leafOf } from '../../../support/tree-walks.js'
import { gridData, integersTo, measurementOf, powersOfTwo, settingsOf } from '../../../support/tuning-data.js'

const learn = (data: MeasuredData, options?: LearnTreeOptions) =>
  learnTree(bestCases(data), data.settings, options)

/** The map of Fig. 5.5: 13 numbers of processes and 17 sizes. Settings: a Bruck, b linear, c ring. */
function figure55(): MeasuredData {
  const [bruck, linear, ring] = [0, 1, 2]
  const processes = [2, 4, 8, 16, 24, 32, 48, 56, 58, 60, 62, 63, 64]
  const best = (P: number, m: number) => {
    if (m > 512) return m > 1024 || P <= 8 || P > 56 ? linear : bruck
    if (P > 8) return bruck
    if (P > 4) return m <= 128 ? bruck : linear
    return m <= 32 || (P === 4 && m === 128) ? ring : linear
  }
  return gridData(processes, powersOfTwo(17), 3, best, 'alltoall')
}

describe('C4.5', () => {
  it('rebuilds the tree of Fig. 5.5 from a map of its shape, with the expected errors of its leaves', () => {
    const learned = learn(figure55(), { attributes: ['processes', 'bytes'] })
    expect(treeText(learned.tree)).toBe(
      `
bytes <= 512
|   processes <= 4
|   |   bytes <= 32: alltoall-c (12/1.3)
|   |   bytes > 32: alltoall-b (8/2.4)
|   processes > 4
|   |   processes <= 8
|   |   |   bytes <= 128: alltoall-a (8/1.3)
|   |   |   bytes > 128: alltoall-b (2/1.0)
|   |   processes > 8: alltoall-a (100/1.4)
bytes > 512
|   bytes <= 1024
|   |   processes <= 56
|   |   |   processes <= 8: alltoall-b (3/1.1)
|   |   |   processes > 8: alltoall-a (5/1.2)
|   |   processes > 56: alltoall-b (5/1.2)
|   bytes > 1024: alltoall-b (78/1.4)`.trim(),
    )
    expect(learned).toMatchObject({ cases: 221, leaves: 9, trainingErrors: 1 })
    const expected = treeLeaves(learned.tree).map(({ cases, errors }) => pessimisticErrors(cases, errors, 25))
    expect(learned.predictedErrors).toBeCloseTo(expected.reduce((sum, errors) => sum + errors))
  })

  it('makes one leaf of cases that agree, and of fewer than twice minCases the most frequent setting', () => {
    const same = gridData([2, 4], [1, 2], 2, () => 1)
    expect(learn(same).tree.root).toEqual({ kind: 'leaf', setting: 1, cases: 4, errors: 0 })
    const three = gridData([2, 4, 8], [1], 2, (P) => (P === 8 ? 1 : 0))
    expect(learn(three).tree.root).toEqual({ kind: 'leaf', setting: 0, cases: 3, errors: 1 })
    expect(learn(three, { minCases: 1, confidencePercent: null }).leaves).toBe(2)
  })

  it('thresholds are values of the training data: the greatest that is not above the middle', () => {
    // Of 8 processes, sizes 16 and 48 border; 32, the middle, occurs elsewhere.
    const data = gridData([8], [1, 2, 4, 16, 48, 128, 256, 512], 2, (_, m) => (m <= 16 ? 0 : 1))
    const elsewhere = gridData([9], [32], 2, () => 0)
    const cases = [...bestCases(data), ...bestCases(elsewhere), ...bestCases(elsewhere)]
    const { root } = learnTree(cases, data.settings, {
      attributes: ['evenProcesses', 'bytes'],
      minCases: 2,
    }).tree
    const thresholds: number[] = []
    visitNodes(root, (node) => {
      if (node.kind === 'threshold') thresholds.push(node.atMost)
    })
    expect(thresholds).toEqual([32])
    const { root: without } = learn(data, { attributes: ['bytes'] }).tree
    expect(without).toMatchObject({ atMost: 16 })
  })

  it('treats words that it has not seen as the most frequent setting of the node', () => {
    const settings = settingsOf(2, 'allreduce')
    const data = measuredData(
      integersTo(6, 2).flatMap((nodes) =>
        ['sum', 'max'].flatMap((operation) =>
          settings.map((setting, i) => {
            const timeUs = (operation === 'sum' || nodes === 2 ? 0 : 1) === i ? 1 : 2
            return measurementOf({ ...setting, nodes, operation, timeUs })
          }),
        ),
      ),
    )
    const { tree } = learn(data, { attributes: ['operation'] })
    const call = { collective: 'allreduce', nodes: 2, processesPerNode: 2, bytes: 8 } as const
    expect(tree.root.kind).toBe('words')
    expect(leafOf(tree, { ...call, operation: 'max' }).setting).toBe(1)
    expect(leafOf(tree, { ...call, operation: 'bxor' })).toEqual({
      ...{ kind: 'leaf', setting: 0, cases: 0, errors: 0 },
    })
    expect(leafOf(tree, call).setting).toBe(0)
    expect(treeLeaves(tree)).toHaveLength(2)
  })

  it.each<[Attribute, Parameters<typeof measurementOf>[0], Parameters<typeof measurementOf>[0]]>([
    ['nodes', { nodes: 4, processesPerNode: 2 }, { nodes: 2, processesPerNode: 4 }],
    ['processesPerNode', { nodes: 4, processesPerNode: 2 }, { nodes: 2, processesPerNode: 4 }],
    ['order', { order: 'ranks' }, { order: 'any' }],
    ['operation', { operation: 'sum' }, { operation: 'max' }],
    ['isMemoryShared', { isMemoryShared: true }, { isMemoryShared: false }],
  ])('tells calls apart by %s alone', (attribute, one, other) => {
    const settings = settingsOf(2, 'reduce')
    const data = measuredData(
      powersOfTwo(8).flatMap((bytes) =>
        [one, other].flatMap((given, best) =>
          settings.map((setting, i) =>
            measurementOf({ ...setting, bytes, ...given, timeUs: i === best ? 1 : 2 }),
          ),
        ),
      ),
    )
    const learned = learn(data, { attributes: [attribute] })
    expect(learned).toMatchObject({ leaves: 2, trainingErrors: 0 })
    expect(learned.tree.root).toMatchObject({ attribute })
    expect(learn(data).trainingErrors).toBe(0)
  })

  it('splits a combined tree of bcast and reduce on the collective', () => {
    const parts = (['bcast', 'reduce'] as const).map((collective) => {
      const best = (P: number, m: number) => (collective === 'bcast' ? 0 : P > 8 && m > 64 ? 1 : 2)
      return gridData(powersOfTwo(6), powersOfTwo(12), 3, best, collective)
    })
    const settings = parts.flatMap((part) => part.settings)
    const cases = parts.flatMap((part, i) =>
      bestCases(part).map(({ call, setting }) => ({ call, setting: setting + 3 * i })),
    )
    const learned = learnTree(cases, settings, { attributes: plainAttributes, minCases: 1 })
    expect(learned.tree.root).toMatchObject({ kind: 'words', attribute: 'collective' })
    expect(learned.trainingErrors).toBe(0)
  })

  it.each([0, 1, 2, 3, 4, 24])('has at most %i tests on a path where maxDepth says so', (maxDepth) => {
    const { tree, leaves } = learn(figure55(), { attributes: ['processes', 'bytes'], maxDepth })
    expect(depthOf(tree.root)).toBe(Math.min(maxDepth, 4))
    expect(leaves).toBe([1, 2, 3, 6][maxDepth] ?? 9)
  })
})

describe('-m and -c', () => {
  /** Seven settings with sloped borders; one cell in twenty has another best setting. */
  const draw = seededRandom(7)
  const noise = new Map<string, number>()
  for (const P of integersTo(32, 2))
    for (const m of powersOfTwo(20)) if (draw() < 0.05) noise.set(`${P} ${m}`, Math.floor(draw() * 7))
  const data = gridData(
    integersTo(32, 2),
    powersOfTwo(20),
    7,
    (P, m) => noise.get(`${P} ${m}`) ?? Math.min(6, Math.floor(Math.log2(P * m) / 4)),
  )
  const attributes = ['processes', 'bytes'] as const

  it('every inner node has two outcomes with minCases cases', () => {
    for (const minCases of [2, 6, 20]) {
      const { tree } = learn(data, { attributes, minCases, confidencePercent: null })
      for (const leaf of treeLeaves(tree)) expect(leaf.cases).toBeGreaterThanOrEqual(minCases)
    }
  })

  it.each<[string, LearnTreeOptions]>([
    ['minCases 0', { minCases: 0 }],
    ['minCases 1.5', { minCases: 1.5 }],
    ['confidencePercent 0', { confidencePercent: 0 }],
    ['confidencePercent 51', { confidencePercent: 51 }],
    ['maxDepth 25', { maxDepth: 25 }],
    ['maxDepth -1', { maxDepth: -1 }],
    ['an unknown attribute', { attributes: ['colour' as Attribute] }],
  ])('%s is refused', (_, options) => {
    expect(() => learn(data, options)).toThrow(refusal('ERR_ARGUMENT'))
  })

  it('no cases are refused', () => {
    expect(() => learnTree([], [])).toThrow(refusal('ERR_TUNING'))
  })
})

describe('composite attributes', () => {
  const data = gridData(integersTo(50, 2), powersOfTwo(18), 4, bestAllgather, 'allgather')
  const learned = (attributes: readonly Attribute[]) => learn(data, { attributes, minCases: 5 })
  const [_plain, composite] = [plainAttributes, allAttributes].map(learned) as [LearnedTree, LearnedTree]

  it('separate powers of two', () => {
    expect(composite).toMatchObject({ leaves: 6, trainingErrors: 0 })
    expect(treeText(composite.tree)).toContain('powerOfTwoProcesses = yes')
  })

  it('recover a border of equal total size, which rectangles cannot', () => {
    const sloped = gridData(integersTo(32, 2), powersOfTwo(16), 2, (P, m) => (P * m > 65_536 ? 1 : 0))
    expect(learn(sloped)).toMatchObject({ leaves: 2, trainingErrors: 0 })
    expect(learn(sloped, { attributes: plainAttributes }).leaves).toBeGreaterThan(4)
  })
})
