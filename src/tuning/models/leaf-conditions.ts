import { type DecisionNode, type DecisionTree, inOrder } from './decision-tree.js'

/** The conditions on an attribute that the tests on the path to a leaf set. */
type Conditions = ReadonlyMap<
  string,
  { readonly above?: number; readonly atMost?: number; readonly word?: string }
>

/**
 * Returns in words, for every leaf by its index in the order of `inOrder`, the calls for which it decides: `processes >
 * 4, 2048 < bytes <= 8192, order = any`.
 */
export function leafConditions({ root }: DecisionTree): readonly string[] {
  const texts: string[] = []
  const visit = (node: DecisionNode, path: Conditions): void => {
    if (node.kind === 'leaf') {
      texts.push(conditionsText(path))
      return
    }
    const { attribute } = node
    const before = path.get(attribute)
    inOrder(node).forEach((child, i) => {
      if (node.kind === 'words')
        visit(child, new Map(path).set(attribute, { word: `= ${node.branches[i]?.word ?? 'another'}` }))
      else if (i === 0)
        visit(
          child,
          new Map(path).set(attribute, {
            ...before,
            atMost: Math.min(node.atMost, before?.atMost ?? Infinity),
          }),
        )
      else
        visit(
          child,
          new Map(path).set(attribute, { ...before, above: Math.max(node.atMost, before?.above ?? 0) }),
        )
    })
  }
  visit(root, new Map())
  return texts
}

function conditionsText(path: Conditions): string {
  const parts = [...path].map(([attribute, { above, atMost, word }]) => {
    if (word !== undefined) return `${attribute} ${word}`
    if (atMost === undefined) return `${attribute} > ${above}`
    return above === undefined ? `${attribute} <= ${atMost}` : `${above} < ${attribute} <= ${atMost}`
  })
  return parts.join(', ') || 'every call'
}
