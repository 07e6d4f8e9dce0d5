import { isNumberAttribute } from '../settings/attributes.js'
import { totalInformation } from './information.js'
import type { AttributeColumn } from './training-cases.js'

/** The best test of one attribute for the cases of a node. */
export interface CandidateSplit {
  readonly column: AttributeColumn
  /** The gain in bits per case. */
  readonly gain: number
  /** The gain divided by the information of the division itself. */
  readonly gainRatio: number
  /** The limit of a number: cases up to it go left. */
  readonly atMost: number
}

/** The cases of a node, and classes by case. */
export interface NodeCases {
  readonly indices: Int32Array
  /** The class of every case of the tree, not only of this node. */
  readonly classOf: Int32Array
  readonly classes: number
  /** The number of cases of this node, by class. */
  readonly counts: Int32Array
  readonly minCases: number
}

/** The least gain that is not rounding. */
export const leastGain = 1e-6

/**
 * Returns the best test of an attribute, or null if none has a gain and `minCases` cases in two outcomes.
 *
 * A number is tested against the value with the highest gain. The choice among t values costs lg t bits, which the gain
 * of the node's cases must pay. Each side needs a tenth of the cases per class, at least `minCases` and at most 25: as
 * in release 8 of C4.5.
 *
 * @see Pjesivac-Grbovic 2007 Eqs. 5.13 to 5.17; Quinlan 1996, Improved use of continuous attributes in C4.5
 */
export function candidateSplit(node: NodeCases, column: AttributeColumn): CandidateSplit | null {
  return isNumberAttribute(column.attribute) ? numberSplit(node, column) : wordSplit(node, column)
}

function numberSplit(node: NodeCases, column: AttributeColumn): CandidateSplit | null {
  const { indices, classOf, classes, counts, minCases } = node
  const { values, distinct } = column
  const cases = indices.length
  const least = Math.max(minCases, Math.min(25, (0.1 * cases) / classes))
  if (cases < 2 * least) return null
  const sorted = indices.toSorted((a, b) => values[a] - values[b])
  const left = new Int32Array(classes)
  const right = counts.slice()
  const before = totalInformation(counts)
  let [tried, best, place] = [0, 0, -1]
  for (let i = 0; i + 1 < cases; i++) {
    const group = classOf[sorted[i]]
    left[group]++
    right[group]--
    if (values[sorted[i]] === values[sorted[i + 1]]) continue
    if (i + 1 < least || cases - i - 1 < least) continue
    tried++
    const saved = before - totalInformation(left) - totalInformation(right)
    if (saved <= best) continue
    best = saved
    place = i
  }
  if (place < 0) return null
  const gain = (best - Math.log2(tried)) / cases
  if (gain <= leastGain) return null
  const ratio = (gain * cases) / totalInformation([place + 1, cases - place - 1])
  const middle = (values[sorted[place]] + values[sorted[place + 1]]) / 2
  return { column, gain, gainRatio: ratio, atMost: distinct.findLast((value) => value <= middle)! }
}

function wordSplit(node: NodeCases, column: AttributeColumn): CandidateSplit | null {
  const { indices, classOf, classes, counts, minCases } = node
  const { values, words } = column
  const byWord = words.map(() => new Int32Array(classes))
  const sizes = new Int32Array(words.length)
  for (const index of indices) {
    byWord[values[index]][classOf[index]]++
    sizes[values[index]]++
  }
  if (sizes.filter((size) => size >= minCases).length < 2) return null
  const after = byWord.reduce((sum, part) => sum + totalInformation(part), 0)
  const saved = totalInformation(counts) - after
  if (saved / indices.length <= leastGain) return null
  const gainRatio = saved / totalInformation(sizes)
  return { column, gain: saved / indices.length, gainRatio, atMost: 0 }
}
