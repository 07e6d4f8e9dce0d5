import { RankweaveError, wrongValue } from '../../errors.js'
import { treeLimits } from '../models/decision-tree.js'
import { type Attribute, allAttributes } from '../settings/attributes.js'

const mostCases = 2 ** 20

/**
 * Checks the arguments that learners of trees share.
 *
 * @throws ERR_TUNING for no cases and too many, ERR_ARGUMENT for the rest
 */
export function requireLearnable(
  cases: number,
  minCases: number,
  maxDepth: number,
  attributes: readonly Attribute[],
): void {
  if (!Number.isInteger(minCases) || minCases < 1 || minCases > mostCases)
    throw wrongValue('ERR_ARGUMENT', `expected minCases as an integer from 1 to ${mostCases}`, minCases)
  if (!Number.isInteger(maxDepth) || maxDepth < 0 || maxDepth > treeLimits.depth)
    throw wrongValue(
      'ERR_ARGUMENT',
      `expected maxDepth as an integer from 0 to ${treeLimits.depth}`,
      maxDepth,
    )
  const unknown = attributes.find((name) => !allAttributes.includes(name))
  if (unknown !== undefined)
    throw wrongValue('ERR_ARGUMENT', `expected attributes among ${allAttributes.join(', ')}`, unknown)
  if (cases === 0 || cases > mostCases)
    throw new RankweaveError('ERR_TUNING', `expected 1 to ${mostCases} cases, got ${cases}`)
}
