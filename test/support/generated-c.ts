import { decisionMap } from '../../src/tuning/learning/decision-map.js'
import { decideByQuadtree, learnQuadtree, type Quadtree } from '../../src/tuning/learning/quadtree.js'
import type { DecisionTree } from '../../src/tuning/models/decision-tree.js'
import type { TuningCall } from '../../src/tuning/settings/tuning-call.js'
import { cDecisions, cQuadtree, testedWords } from '../../src/tuning/texts/decision-code.js'
import { bestAllgather } from './grig-allgather.js'
import { leafOf } from './tree-walks.js'
import { gridData, integersTo, powersOfTwo } from './tuning-data.js'
import { exampleCalls, exampleTrees } from './tuning-trees.js'

/** A generated C function, and what it must return for numbers that it is given. */
export interface GeneratedC {
  readonly name: string
  readonly source: string
  readonly inputs: readonly (readonly number[])[]
  readonly expected: readonly number[]
}

/** Functions of trees: nodes, processes of each, bytes, and numbers of words as {@link wordNumbers} says. */
export function generatedTrees(): readonly GeneratedC[] {
  const calls = exampleCalls()
  return [...exampleTrees()].map(([name, tree]) => ({
    name,
    source: cDecisions(tree, name),
    inputs: calls.map((call) => [call.nodes, call.processesPerNode, call.bytes, ...wordNumbers(tree, call)]),
    expected: calls.map((call) => leafOf(tree, call).setting),
  }))
}

/** Quadtrees of several depths, at every grid point and beyond its edges: processes, bytes. */
export function generatedQuadtrees(): readonly (GeneratedC & { readonly tree: Quadtree })[] {
  const bytes = powersOfTwo(18).map((size) => 3 * size)
  const map = decisionMap(gridData(integersTo(28, 2), bytes, 4, (P, m) => bestAllgather(P, m)))
  const sizes = [0, 1, 2, ...bytes, ...bytes.map((size) => size + 1), 2 ** 20, 2 ** 40]
  const inputs = [...integersTo(40), 2 ** 22].flatMap((P) => sizes.map((m) => [P, m]))
  return [10, 3, 0].map((maxDepth) => {
    const [name, tree] = [`depth_${maxDepth}`, learnQuadtree(map, { maxDepth })]
    const expected = inputs.map(([P, m]) => decideByQuadtree(tree, P, m))
    return { name, tree, source: cQuadtree(tree, name), inputs, expected }
  })
}

/** The numbers of the words of a call: 0 where it states none, -1 for words that the tree does not test. */
function wordNumbers(tree: DecisionTree, call: TuningCall): number[] {
  const words = testedWords(tree)
  const shared = call.isMemoryShared === undefined ? '' : call.isMemoryShared ? 'yes' : 'no'
  const attributes = ['collective', 'operation', 'order', 'isMemoryShared'] as const
  return [call.collective, call.operation ?? '', call.order ?? '', shared].map((word, i) => {
    const place = words.get(attributes[i])?.indexOf(word) ?? -1
    return word === '' ? 0 : place < 0 ? -1 : place + 1
  })
}
