import { algorithms, opKind, type Schedule, scheduleOf } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { countMessages } from '../../../src/schedule/walk.js'
import { shapesOf } from '../../support/algorithm-checks.js'

// What algorithms say of themselves in the catalog, counted in their schedules.

const core = (ranks: number): number => 2 ** Math.floor(Math.log2(ranks))

/** The value of a formula such as `2 P(P - 1)`. */
function evaluated(formula: string, ranks: number): number {
  const values: Record<string, number> = {
    P: ranks,
    L: Math.ceil(Math.log2(ranks)),
    K: Math.ceil(Math.log2(ranks) / 2),
    C: core(ranks),
    'lg C': Math.log2(core(ranks)),
  }
  const tokens = (formula.match(/lg C|[PLCK]|\d+|[-+/^()]/g) ?? []).map((token) =>
    token === '^' ? '**' : `${values[token] ?? token}`,
  )
  const product = tokens.map((token, i) => {
    const isFactor = i > 0 && /[\d)]$/.test(tokens[i - 1]) && /^[\d(]/.test(token)
    return `${isFactor ? '*' : ''}${token}`
  })
  return Number(new Function(`return ${product.join('')}`)())
}

/** What the rank that sends most sends, in units of the data that the shape cuts into parts. */
function mostSent({ specification, opStart, opKind: kinds, entryStart }: Schedule): number {
  const { collective, partStart, ranks } = specification
  const isOfVectors = /^(bcast|reduce|allreduce|scan|exscan)$/.test(collective)
  const partsPerUnit = isOfVectors ? partStart[1] : 1
  let most = 0
  for (let rank = 0; rank < ranks; rank++) {
    let sent = 0
    for (let op = opStart[rank]; op < opStart[rank + 1]; op++) {
      if (kinds[op] === opKind.send) sent += entryStart[op + 1] - entryStart[op]
    }
    most = Math.max(most, sent)
  }
  return most / partsPerUnit
}

describe.each(algorithms.map((algorithm) => [algorithm.id, algorithm] as const))('%s', (_, algorithm) => {
  const { phases, messages, sent = '' } = algorithm.catalog!
  const schedules = [2, 3, 5, 8, 12, 16].flatMap((ranks) =>
    shapesOf(algorithm, ranks, 1)
      .slice(0, 1)
      .map((shape) => scheduleOf(algorithm, shape)),
  )

  test('phases and messages', () => {
    for (const schedule of schedules) {
      const { ranks } = schedule.specification
      const isFolded = messages.includes('C') && core(ranks) !== ranks
      const most = evaluated(phases.replace('at most', ''), ranks) + (isFolded ? 2 : 0)
      if (phases.startsWith('at most')) expect(schedule.phases).toBeLessThanOrEqual(most)
      else expect([ranks, schedule.phases]).toEqual([ranks, most])
      const expected = evaluated(messages, ranks) + (isFolded ? 2 * (ranks - core(ranks)) : 0)
      const counted = countMessages(schedule).messages
      if (messages.startsWith('at most')) expect(counted).toBeLessThanOrEqual(expected)
      else if (messages.startsWith('below')) expect(counted).toBeLessThan(expected)
      else if (messages.startsWith('about')) expect(Math.abs(counted - expected)).toBeLessThan(ranks)
      else expect([ranks, counted]).toEqual([ranks, expected])
    }
  })

  test('volume, for powers of two', () => {
    for (const schedule of schedules) {
      const { ranks } = schedule.specification
      if (core(ranks) === ranks && sent !== '') {
        const most = mostSent(schedule)
        if (sent.startsWith('at most')) expect(most).toBeLessThanOrEqual(evaluated(sent.slice(7), ranks))
        else expect([ranks, most]).toEqual([ranks, evaluated(sent, ranks)])
      }
    }
  })

  test('segments: messages for each, a phase more for each', () => {
    if (algorithm.collective === 'barrier') return
    for (const [shape] of [2, 5, 8].map((ranks) => shapesOf(algorithm, ranks, 4))) {
      if (shape === undefined) continue
      const [one, four] = [scheduleOf(algorithm, { ...shape, segments: 1 }), scheduleOf(algorithm, shape)]
      // One sends all but the first segment together, in one phase; the other sends whole pieces in its second half.
      const isInTwo = algorithm.id === 'gather-linear-sync'
      expect(four.phases).toBe(one.phases + (isInTwo ? 1 : 3))
      const times = isInTwo ? 1.5 : algorithm.id === 'allreduce-ring-segmented' ? 2.5 : 4
      expect(countMessages(four).messages).toBe(times * countMessages(one).messages)
    }
  })
})
