import { describe, expect, test } from 'vitest'
import { NeighborScheduleBuilder } from '../../../../src/schedule/builder.js'
import type { Schedule } from '../../../../src/schedule/ir.js'
import { type MessageBalance, messageBalance } from '../../../../src/schedule/verify/message-digest.js'
import { operationsOf, withOperations } from '../../../support/operation-list.js'
import { doublingAllreduce, ringAllreduce } from '../../../support/reduction-schedules.js'
import { friendsSchedule, topologyOf } from '../fixtures.js'

const ranksOf = ({ specification }: Schedule): number[] => [...Array(specification.ranks).keys()]
const sum = (a: MessageBalance, b: MessageBalance): MessageBalance => ({
  low: (a.low + b.low) >>> 0,
  high: (a.high + b.high) >>> 0,
  sent: a.sent + b.sent,
  received: a.received + b.received,
})
const halves = (schedule: Schedule): readonly [MessageBalance, MessageBalance] => {
  const ranks = ranksOf(schedule)
  return [messageBalance(schedule, ranks.slice(0, 2)), messageBalance(schedule, ranks.slice(2))]
}

describe('messageBalance', () => {
  test.each([
    ['blocks', friendsSchedule(), 8],
    ['partial results', doublingAllreduce(8), 24],
    ['several messages of a pair', ringAllreduce(4), 24],
  ])('of all ranks is zero where messages fit, of %s', (_, schedule, messages) => {
    const [first, second] = halves(schedule)
    expect(first.low !== 0 && first.high !== 0).toBe(true)
    expect(sum(first, second)).toEqual({ low: 0, high: 0, sent: messages, received: messages })
  })

  test('is not zero when one end of one message is another', () => {
    const schedule = ringAllreduce(4)
    const at = operationsOf(schedule).findIndex(({ kind }) => kind === 0)
    const changes: readonly ((operations: ReturnType<typeof operationsOf>) => void)[] = [
      (operations) => operations.splice(at, 1),
      (operations) => (operations[at].tag = 1),
      (operations) => (operations[at].peer = 2),
      (operations) => (operations[at].phase = 1),
      (operations) => (operations[at].entries[0].block = ~3),
      (operations) => (operations[at].entries = []),
      (operations) => operations.splice(at, 0, structuredClone(operations[at])),
    ]
    for (const change of changes) {
      const operations = operationsOf(schedule)
      change(operations)
      const { low, high } = messageBalance(withOperations(schedule, operations), ranksOf(schedule))
      expect(low !== 0 && high !== 0).toBe(true)
    }
  })

  test('is not zero when two messages of a pair and a tag, in one phase, are received in another order', () => {
    const balanceOf = (order: readonly number[]): MessageBalance => {
      const builder = new NeighborScheduleBuilder({ topology: topologyOf(3, []), strategy: 'pairs' })
      for (const tag of [0, 1]) for (const block of [0, 1]) builder.send(0, 0, 1, tag).add(block, 0)
      for (const tag of [0, 1]) for (const i of order) builder.receive(1, 0, 0, tag).add(i, 0)
      return messageBalance(builder.build(), [0, 1])
    }
    expect(balanceOf([0, 1])).toEqual({ low: 0, high: 0, sent: 4, received: 4 })
    expect(balanceOf([1, 0]).low).not.toBe(0)
  })

  test('counts the places of messages by peer, tag and direction', () => {
    // Ranks 0 and 1 exchange; rank 0 also sends to rank 2 in between, and with another tag.
    const builder = new NeighborScheduleBuilder({ topology: topologyOf(3, []), strategy: 'places' })
    builder.send(0, 0, 1).add(0, 0)
    builder.send(0, 0, 2).add(0, 0)
    builder.send(0, 0, 1, 1).add(0, 0)
    builder.send(0, 0, 1).add(0, 0)
    builder.receive(1, 0, 0).add(0, 0)
    builder.receive(1, 0, 0).add(0, 0)
    builder.receive(1, 0, 0, 1).add(0, 0)
    builder.receive(2, 0, 0).add(0, 0)
    builder.send(1, 0, 0).add(1, 0)
    builder.receive(0, 0, 1).add(1, 0)
    expect(messageBalance(builder.build(), [0, 1, 2])).toEqual({ low: 0, high: 0, sent: 5, received: 5 })
  })

  test('names ranks and blocks as they are called elsewhere, partial results by their part', () => {
    const schedule = doublingAllreduce(4)
    const rankOf = Int32Array.of(10, 11, 12, 13)
    const renamed = messageBalance(schedule, [0, 1], rankOf)
    expect(renamed).not.toEqual(messageBalance(schedule, [0, 1]))
    expect(sum(renamed, messageBalance(schedule, [2, 3], rankOf))).toMatchObject({ low: 0, high: 0 })
    expect(sum(renamed, messageBalance(schedule, [2, 3]))).not.toMatchObject({ low: 0, high: 0 })
  })

  test('counts only messages with the peers that it is given', () => {
    const schedule = doublingAllreduce(4)
    expect(messageBalance(schedule, [0], null, (peer) => peer === 1)).toMatchObject({ sent: 1, received: 1 })
    const both = sum(
      messageBalance(schedule, [0], null, (peer) => peer === 1),
      messageBalance(schedule, [1], null, (peer) => peer === 0),
    )
    expect(both).toEqual({ low: 0, high: 0, sent: 2, received: 2 })
  })
})
