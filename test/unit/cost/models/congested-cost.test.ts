import { closNetwork, congestedCost, type Stage, scheduleStages, torusNetwork } from 'rankweave/models'
import { algorithmOf, scheduleOf } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { isRankweaveError } from '../../../../src/errors.js'
import { doublingStages } from '../../../support/published-stages.js'

const up = (bits: number) => Array.from({ length: bits }, (_, bit) => bit)
const bytesOn = (dims: readonly number[], stages: Iterable<Stage>): number =>
  congestedCost(torusNetwork(dims), stages).bytes

describe('allgathers on a torus cost what Sack 2011 §3.3 and §3.4 have in closed form', () => {
  test('schedules of the registry: doubling, and a ring that meets no other message', () => {
    const stagesOf = (id: string) => scheduleStages(scheduleOf(algorithmOf(id), { ranks: 64 }), 10)
    const dims = [4, 4, 4]
    expect(bytesOn(dims, stagesOf('allgather-recursive-doubling'))).toBe(
      10 * bytesOn(dims, doublingStages(up(6), 1)),
    )
    expect(congestedCost(torusNetwork(dims), stagesOf('allgather-ring'))).toEqual({
      messages: 63,
      bytes: 630,
    })
  })
})

describe('stages that the procedure has no exact time for are ERR_MODEL:', () => {
  const network = torusNetwork([8])
  const cost = (stage: Stage): string => {
    try {
      return `${congestedCost(network, [stage]).bytes}`
    } catch (error) {
      return isRankweaveError(error) ? `${error.code}: ${error.message}` : 'another error'
    }
  }

  test.each<[string, Stage, RegExp]>([
    [
      'messages of two lengths on one link',
      { source: [0, 1], destination: [2, 3], bytes: [1, 2] },
      /equal lengths/,
    ],
    [
      'a message that starts where another is in flight',
      { source: [0, 4, 0], destination: [2, 5, 1], bytes: [4, 1, 4], after: [[], [], [1]] },
      /occupy until/,
    ],
    [
      'messages of one link that meet others elsewhere, and end at two times',
      { source: [0, 0, 1, 1], destination: [1, 2, 2, 2], bytes: [1, 1, 1, 1] },
      /same time/,
    ],
    [
      'a message that waits for two which do not arrive together',
      { source: [0, 4, 2], destination: [2, 3, 3], bytes: [1, 2, 1], after: [[], [], [0, 1]] },
      /do not arrive together/,
    ],
    [
      'messages that wait for each other',
      { source: [0, 2], destination: [1, 3], bytes: [1, 1], after: [[1], [0]] },
      /wait for each other/,
    ],
    ['a node that there is not', { source: [8], destination: [0], bytes: [1] }, /nodes from 0 to 7/],
    ['a negative length', { source: [1], destination: [0], bytes: [-1] }, /length/],
    ['fewer lengths than messages', { source: [1], destination: [0], bytes: [] }, /one per source/],
    [
      'a dependency that there is not',
      { source: [1], destination: [0], bytes: [1], after: [[3]] },
      /from 0 to 0/,
    ],
  ])('%s', (_, stage, message) => {
    expect(cost(stage)).toMatch(/^ERR_MODEL/)
    expect(cost(stage)).toMatch(message)
  })

  test('and networks that there are not', () => {
    const attempts = [
      () => torusNetwork([]),
      () => torusNetwork([0]),
      () => closNetwork({ nodes: 8, nodesPerSwitch: 4, taper: 0 }),
    ]
    for (const attempt of attempts) expect(attempt).toThrow(expect.objectContaining({ code: 'ERR_MODEL' }))
  })
})

test('a message that waits for others starts when they have arrived', () => {
  const passedOn = { source: [0, 1, 4], destination: [1, 3, 5], bytes: [2, 2, 1], after: [[], [0], []] }
  expect(congestedCost(torusNetwork([8]), [passedOn])).toEqual({ messages: 1, bytes: 4 })
})

test('sides of 1 and 2, empty stages and empty messages cost what they send', () => {
  expect(bytesOn([1, 1, 1], doublingStages([], 1))).toBe(0)
  expect(bytesOn([2, 2, 2], doublingStages(up(3), 1))).toBe(7)
  expect(bytesOn([4], [{ source: [0, 1], destination: [1, 2], bytes: [0, 0] }])).toBe(0)
})
