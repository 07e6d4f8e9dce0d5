import { seededRandom } from '../../src/base/random.js'
import { learnTree } from '../../src/tuning/learning/learn-tree.js'
import { bestCases } from '../../src/tuning/learning/training-cases.js'
import type { DecisionNode, DecisionTree } from '../../src/tuning/models/decision-tree.js'
import { plainAttributes, type TuningCall } from '../../src/tuning/settings/tuning-call.js'
import { bestAllgather } from './grig-allgather.js'
import { gridData, integersTo, powersOfTwo, settingsOf } from './tuning-data.js'

/** Trees that test every attribute between them, by a name that is an identifier. */
export function exampleTrees(): ReadonlyMap<string, DecisionTree> {
  const allgather = gridData(integersTo(33, 2), powersOfTwo(16), 4, bestAllgather, 'allgather')
  const { settings } = allgather
  return new Map([
    ['composite', learnTree(bestCases(allgather), settings, { minCases: 5 }).tree],
    ['plain', learnTree(bestCases(allgather), settings, { attributes: plainAttributes }).tree],
    [
      'distributed',
      learnTree(bestCases(allgather), settings, { attributes: ['distributedBytes', 'evenProcesses'] }).tree,
    ],
    ['every_attribute', everyAttribute()],
    ['large_limits', largeLimits()],
    ['one_leaf', { settings, root: { kind: 'leaf', setting: 2, cases: 1, errors: 0 } }],
  ])
}

/** Limits as a file may have them: fractions, and beyond all values. */
function largeLimits(): DecisionTree {
  const leaf = (setting: number) => ({ kind: 'leaf', setting, cases: 0, errors: 0 }) as const
  const limits = [
    ['bytes', 100.5],
    ['bytes', 1e20],
    ['totalBytes', 2 ** 62],
    ['totalBytes', 1e30],
  ] as const
  const root = limits.reduceRight<DecisionNode>(
    (above, [attribute, atMost], i) => ({ kind: 'threshold', attribute, atMost, below: leaf(i), above }),
    leaf(4),
  )
  const first = {
    kind: 'threshold',
    attribute: 'processes',
    atMost: 2 ** 20,
    below: root,
    above: leaf(4),
  } as const
  const second = {
    kind: 'threshold',
    attribute: 'totalBytes',
    atMost: 3.5,
    below: leaf(3),
    above: first,
  } as const
  return { settings: settingsOf(5), root: second }
}

/** Random cases of all kinds of calls, learned by heart as far as C4.5 does. */
function everyAttribute(): DecisionTree {
  const draw = seededRandom(11)
  const one = <T>(values: readonly T[]): T => values[Math.floor(draw() * values.length)]
  const cases = Array.from({ length: 600 }, () => {
    const call: TuningCall = {
      collective: one(['allreduce', 'reduce-scatter', 'bcast']),
      nodes: one(integersTo(9)),
      processesPerNode: one(integersTo(8)),
      bytes: one([0, 1, 7, 100, 4096, 65_536, 2 ** 30]),
      ...one([{}, { operation: 'sum' }, { operation: 'bitwise-and' }]),
      ...one([{}, { order: 'any' }, { order: 'ranks' }] as const),
      ...one([{}, { isMemoryShared: true }, { isMemoryShared: false }]),
    }
    const isEven = (call.nodes * call.processesPerNode) % 2
    const kinds =
      Number(call.operation === 'sum') + Number(call.order === 'any') + Number(call.isMemoryShared ?? 2)
    const sizes = Number(call.bytes * call.processesPerNode > 1000) + Number(call.nodes > 4)
    return { call, setting: (isEven + kinds + sizes + (draw() < 0.1 ? 1 : 0)) % 5 }
  })
  return learnTree(cases, settingsOf(5), { minCases: 1, confidencePercent: null }).tree
}

/** Calls on the grids of {@link exampleTrees}, between their values and beyond their edges. */
export function exampleCalls(): TuningCall[] {
  const sizes = [...powersOfTwo(17), 0, 3, 100, 101, 1000, 2047, 2049, 4097, 2 ** 30, 2 ** 40 - 1, 2 ** 40]
  const layouts = [
    ...integersTo(66).map((nodes) => [nodes, 1] as const),
    ...integersTo(9).flatMap((nodes) => integersTo(9).map((perNode) => [nodes, perNode] as const)),
    ...[2 ** 22, 2 ** 22 - 1, 2 ** 22 - 2].map((nodes) => [nodes, 1] as const),
    ...([
      [2 ** 11, 2 ** 11],
      [1, 2 ** 22],
    ] as const),
  ]
  const kinds = [
    { collective: 'allgather' },
    { collective: 'allreduce', operation: 'sum', order: 'any', isMemoryShared: true },
    { collective: 'allreduce', operation: 'bitwise-and', order: 'tree' },
    { collective: 'reduce-scatter', operation: 'of-users', order: 'ranks', isMemoryShared: false },
    { collective: 'bcast', isMemoryShared: false },
  ] as const
  return kinds.flatMap((kind) =>
    layouts.flatMap(([nodes, processesPerNode]) =>
      sizes.map((bytes): TuningCall => ({ ...kind, nodes, processesPerNode, bytes })),
    ),
  )
}
