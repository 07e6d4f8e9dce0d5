import { describe, expect, test } from 'vitest'
import { below, mulberry32 } from '../../../../src/base/random.js'
import { NeighborScheduleBuilder } from '../../../../src/schedule/builder.js'
import type { Schedule } from '../../../../src/schedule/ir.js'
import { pairMessages } from '../../../../src/schedule/message-pairs.js'
import { checkProgress } from '../../../../src/schedule/verify/verify-progress.js'
import { ViolationList } from '../../../../src/schedule/verify/violations.js'
import { type PhaseRows, phaseRows } from '../../../../src/schedule/walk.js'
import { topologyOf } from '../fixtures.js'

interface Message {
  readonly from: number
  readonly to: number
  readonly sendPhase: number
  readonly receivePhase: number
}

function scheduleOf(ranks: number, messages: readonly Message[]): Schedule {
  const builder = new NeighborScheduleBuilder({ topology: topologyOf(ranks, []), strategy: 'messages' })
  messages.forEach(({ from, to, sendPhase, receivePhase }, tag) => {
    builder.send(from, sendPhase, to, tag)
    builder.receive(to, receivePhase, from, tag)
  })
  return builder.build()
}

/** Lets ranks continue as long as one can; whether all come to their end. */
function allFinish(ranks: number, messages: readonly Message[]): boolean {
  const last = Math.max(0, ...messages.flatMap(({ sendPhase, receivePhase }) => [sendPhase, receivePhase]))
  const entered = new Array<number>(ranks).fill(0)
  for (let moved = true; moved; ) {
    moved = false
    for (let rank = 0; rank < ranks; rank++) {
      const isStuck = messages.some(
        ({ from, to, sendPhase, receivePhase }) =>
          (from === rank && sendPhase === entered[rank] && entered[to] < receivePhase) ||
          (to === rank && receivePhase === entered[rank] && entered[from] < sendPhase),
      )
      if (isStuck || entered[rank] > last) continue
      entered[rank]++
      moved = true
    }
  }
  return entered.every((phase) => phase > last)
}

/** For every row the rows that must come before it. */
function precedents(rows: PhaseRows, partner: Int32Array): readonly (readonly number[])[] {
  const before = (row: number): number[] =>
    row > 0 && rows.rank[row - 1] === rows.rank[row] ? [row - 1] : []
  return Array.from(rows.rank, (_, row) => {
    const needed = before(row)
    for (let op = rows.opStart[row]; op < rows.opStart[row + 1]; op++) {
      if (partner[op] !== -1) needed.push(...before(rows.ofOperation[partner[op]]))
    }
    return needed
  })
}

describe('checkProgress', () => {
  test('agrees with ranks that continue as long as they can, and orders the rows as they can be executed', () => {
    const random = mulberry32(3)
    const seen = { deadlocks: 0, aligned: 0, others: 0 }
    for (let i = 0; i < 1500; i++) {
      const [ranks, phases] = [1 + below(random, 5), 1 + below(random, 4)]
      const isAligned = below(random, 4) === 0
      const messages = Array.from({ length: below(random, 9) }, (): Message => {
        const [from, to] = [below(random, ranks), below(random, ranks)]
        const [sendPhase, other] = [below(random, phases), below(random, phases)]
        return { from, to, sendPhase, receivePhase: isAligned ? sendPhase : other }
      })
      const schedule = scheduleOf(ranks, messages)
      const found = new ViolationList(10)
      const rows = phaseRows(schedule)
      const partner = pairMessages(schedule)
      const order = checkProgress(schedule, rows, partner, found)
      const finishes = allFinish(ranks, messages)
      expect([messages, found.verification().violations.map(({ code }) => code)]).toEqual([
        messages,
        finishes ? [] : ['deadlock'],
      ])
      const position = new Map([...order].map((row, at) => [row, at]))
      expect([...order].sort((a, b) => a - b)).toEqual([...rows.rank.keys()])
      precedents(rows, partner).forEach((needed, row) => {
        // Of ranks that wait forever only the order of their own rows holds.
        const own = finishes ? needed : needed.filter((before) => before === row - 1)
        for (const before of own) expect(position.get(before)).toBeLessThan(position.get(row)!)
      })
      seen[!finishes ? 'deadlocks' : isAligned ? 'aligned' : 'others']++
    }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(200)
  })

  test('names every rank of a cycle once, in the order in which they wait', () => {
    const cycle = [2, 0, 3].map((from, i, all): Message => {
      return { from, to: all[(i + 1) % all.length], sendPhase: 1, receivePhase: 0 }
    })
    const schedule = scheduleOf(5, [{ from: 1, to: 4, sendPhase: 0, receivePhase: 0 }, ...cycle])
    const found = new ViolationList(10)
    checkProgress(schedule, phaseRows(schedule), pairMessages(schedule), found)
    expect(found.verification().violations).toEqual([
      {
        code: 'deadlock',
        rank: 0,
        phase: 0,
        message:
          'no rank can proceed: rank 0 in phase 0 waits for rank 2 in phase 0 waits for rank 3 in phase 0 waits for rank 0 in phase 0',
      },
    ])
  })

  test('takes memory for what happens where phases are far apart', () => {
    const schedule = scheduleOf(2, [{ from: 0, to: 1, sendPhase: 2 ** 24 - 1, receivePhase: 2 ** 24 - 1 }])
    const found = new ViolationList(1)
    const order = checkProgress(schedule, phaseRows(schedule), pairMessages(schedule), found)
    expect([order.length, found.count]).toEqual([2, 0])
  })
})
