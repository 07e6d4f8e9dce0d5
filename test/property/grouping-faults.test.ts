import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mulberry32 } from '../../src/base/random.js'
import { isRankweaveError } from '../../src/errors.js'
import { type GroupingMessage, groupingMessageKinds } from '../../src/topology/grouping/grouping-messages.js'
import { cases } from '../support/soak.js'
import { plainGroupsOf } from './grouping-oracle.js'
import { type Configuration, configurations, groupsOf, type Tamper } from './random-delivery.js'

const faults = ['drop', 'duplicate', 'reorder', 'corrupt'] as const
type Fault = (typeof faults)[number]

/** One word of the message changed: its kind, its round, its wave or one of its ranks. */
function corrupted({ kind, round, wave, ranks }: GroupingMessage, draw: () => number): GroupingMessage {
  const words = [groupingMessageKinds.indexOf(kind), round, wave, ...ranks]
  const at = draw() % words.length
  const kinds = groupingMessageKinds.length
  if (at === 0) words[0] = (words[0] + 1 + (draw() % (kinds - 1))) % kinds
  else words[at] ^= 1 << (draw() % 4)
  return {
    kind: groupingMessageKinds[words[0]],
    round: words[1],
    wave: words[2],
    ranks: Int32Array.from(words.slice(3)),
  }
}

/** Does something to the n-th message, and reports whether it came to that. */
function faulty(fault: Fault, n: number, draw: () => number): { tamper: Tamper; happened(): boolean } {
  let late: { readonly message: GroupingMessage; readonly from: number; readonly to: number } | undefined
  let happened = false
  const tamper: Tamper = (message, i, from, to) => {
    if (i === n) {
      if (fault === 'reorder') late = { message, from, to }
      else happened = true
      if (fault === 'duplicate') return [message, message]
      return fault === 'corrupt' ? [corrupted(message, draw)] : []
    }
    if (late?.from !== from || late.to !== to) return [message]
    const { message: overtaken } = late
    late = undefined
    happened = true
    return [message, overtaken]
  }
  return { tamper, happened: () => happened }
}

/**
 * What came of a fault: nothing, other groups, or the code of an error. Null when there was no message to
 * disturb.
 */
function outcomeOf(configuration: Configuration, fault: Fault, seed: number): string | null {
  let sent = 0
  const count: Tamper = (message) => {
    sent++
    return [message]
  }
  const groups = JSON.stringify(plainGroupsOf(groupsOf(configuration, undefined, count)))
  const draw = mulberry32(seed)
  const { tamper, happened } = faulty(fault, draw() % Math.max(1, sent), draw)
  try {
    const found = JSON.stringify(plainGroupsOf(groupsOf(configuration, undefined, tamper)))
    if (!happened()) return null
    return found === groups ? 'nothing' : 'other groups'
  } catch (error) {
    if (fault === 'reorder' && !happened()) return null
    if (isRankweaveError(error)) return error.code
    throw error
  }
}

test.each([
  ['drop', 0.9],
  ['duplicate', 0.99],
  ['reorder', 0.35],
  ['corrupt', 0.8],
] as const)(
  'one message, %s: at least %d of the faults end in a code or change the groups, the others do nothing',
  (fault, share) => {
    const seen = new Map<string, number>()
    fc.assert(
      fc.property(configurations, fc.integer({ min: 0, max: 2 ** 31 - 1 }), (configuration, seed) => {
        const outcome = outcomeOf(configuration, fault, seed)
        if (outcome !== null) seen.set(outcome, (seen.get(outcome) ?? 0) + 1)
      }),
      { numRuns: fault === 'reorder' ? cases(1_200, 1_200) : cases(400, 400) },
    )
    const runs = [...seen.values()].reduce((sum, n) => sum + n, 0)
    expect(runs).toBeGreaterThan(150)
    const noticed = runs - (seen.get('nothing') ?? 0)
    expect(noticed / runs).toBeGreaterThanOrEqual(share)
    const outcomes = ['nothing', 'other groups', 'ERR_PLAN_MISMATCH']
    expect([...seen.keys()].filter((outcome) => !outcomes.includes(outcome))).toEqual([])
  },
)
