import type { DecisionLeaf, DecisionNode, ThresholdTest, WordTest } from '../models/decision-tree.js'
import { isNumberAttribute, type WordAttribute } from '../settings/attributes.js'
import type { AttributeColumn } from './training-cases.js'

/** A test of a learner: a number against a limit, or the value of a word. */
export interface ColumnTest {
  readonly column: AttributeColumn
  /** The limit of a number: cases up to it go left. */
  readonly atMost: number
}

/**
 * Returns a test as a node of a tree.
 *
 * @param leaf the decision without the test, which now serves words that did not occur
 * @param children of a number: up to the limit, then above; of a word: of each word of the column
 */
export function decisionTest(
  { column, atMost }: ColumnTest,
  leaf: DecisionLeaf,
  children: readonly DecisionNode[],
): ThresholdTest | WordTest {
  const { attribute, words } = column
  if (isNumberAttribute(attribute)) {
    const [below, above] = children
    return { kind: 'threshold', attribute, atMost, below, above }
  }
  const branches = words
    .map((word, i) => ({ word, node: children[i] }))
    .filter(({ node }) => node.kind !== 'leaf' || node.cases > 0)
  const otherwise: DecisionLeaf = { ...leaf, cases: 0, errors: 0 }
  return { kind: 'words', attribute: attribute satisfies WordAttribute, branches, otherwise }
}
