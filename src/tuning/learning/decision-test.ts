import type { DecisionLeaf, DecisionNode, ThresholdTest, WordTest } from '../models/decision-tree.js'
import { isNumberAttribute, type WordAttribute } from '../settings/attributes.js'
import type { AttributeColumn } from './training-cases.js'

/** What learners test: a number against a limit, or which word it is. */
export interface ColumnTest {
  readonly column: AttributeColumn
  /** Of a number: cases up to it go left. */
  readonly atMost: number
}

/**
 * A test as a node of a tree.
 *
 * @param leaf what would be decided without the test: now of words that did not occur
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
