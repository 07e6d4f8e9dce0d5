import { pessimisticErrors } from '../../src/tuning/learning/learn-tree.js'
import type { DecisionLeaf, DecisionNode, DecisionTree } from '../../src/tuning/models/decision-tree.js'
import { settingLine } from '../../src/tuning/settings/setting.js'

/**
 * Returns the tree as lines of text, as C4.5 prints it: a test a line. At leaves stands the setting with the training
 * cases, and the errors expected of as many new ones at a confidence of 25%.
 *
 * @see Pjesivac-Grbovic 2007 Fig. 5.5
 */
export function treeText({ settings, root }: DecisionTree): string {
  const lines: string[] = []
  const leafText = (leaf: DecisionLeaf) => {
    const expected = pessimisticErrors(leaf.cases, leaf.errors, 25).toFixed(1)
    const cases = leaf.cases === 0 ? '' : ` (${leaf.cases}/${expected})`
    return `${settingLine(settings[leaf.setting])}${cases}`
  }
  const branch = (test: string, node: DecisionNode, depth: number): void => {
    const leaf = node.kind === 'leaf' ? `: ${leafText(node)}` : ''
    lines.push(`${'|   '.repeat(depth)}${test}${leaf}`)
    if (node.kind !== 'leaf') visit(node, depth + 1)
  }
  const visit = (node: Exclude<DecisionNode, DecisionLeaf>, depth: number): void => {
    if (node.kind === 'threshold') {
      branch(`${node.attribute} <= ${node.atMost}`, node.below, depth)
      branch(`${node.attribute} > ${node.atMost}`, node.above, depth)
      return
    }
    for (const { word, node: child } of node.branches)
      branch(`${node.attribute} = ${word || '-'}`, child, depth)
  }
  if (root.kind === 'leaf') return leafText(root)
  visit(root, 0)
  return lines.join('\n')
}
