import { describe, expect, it } from 'vitest'
import { algorithms } from '../../../../src/collective/algorithms.js'
import { scheduleOf } from '../../../../src/collective/patterns/schedule-size.js'
import { ScheduleBuilder } from '../../../../src/schedule/builder.js'
import type { Schedule } from '../../../../src/schedule/ir.js'
import { noGates } from '../../../../src/schedule/lower/gates.js'
import { lower } from '../../../../src/schedule/lower/lower.js'
import type { ProcessProgram } from '../../../../src/schedule/lower/program.js'
import { upTo } from '../../../../src/schedule/specification.js'
import { verify } from '../../../../src/schedule/verify/verify.js'
import { type BareMessage, nothingOf, scheduleOfMessages } from '../../../support/message-schedules.js'

function messages(ranks: number, list: readonly BareMessage[]): Schedule {
  const schedule = scheduleOfMessages(ranks, list)
  expect(verify(schedule).violations).toEqual([])
  return schedule
}

const gatesOf = ({ gates }: ProcessProgram) => ({
  sends: [...gates.sends],
  receives: [...gates.receives],
  ofSend: [...gates.ofSend],
  ofReceive: [...gates.ofReceive],
})

describe('a wait becomes a gate of its process', () => {
  it('that opens with all frames of the phases named', () => {
    // Rank 0 sends in phases 0, 1 and 2, and receives in phase 1.
    const schedule = messages(3, [
      [0, 1, 0],
      [0, 1, 1],
      [2, 0, 1],
      [0, 1, 2, 1],
      [0, 2, 3, 0],
    ])
    const { programs } = lower(schedule, upTo(3))
    expect(gatesOf(programs[0]!)).toEqual({
      sends: [1, 2],
      receives: [0, 1],
      ofSend: [-1, -1, 1, 0],
      ofReceive: [-1],
    })
    expect(programs[1]!.gates).toBe(noGates)
    const { needs, useStart, use } = programs[0]!.dependencies
    // Four sends, two gates, one post; the second gate waits for the first, a send and a receive.
    expect([...needs]).toEqual([0, 0, 1, 1, 1, 3, 0])
    // One receive, two gates, four sends.
    expect([...useStart]).toEqual([0, 1, 3, 4, 5, 6, 6, 6])
    expect([...use]).toEqual([5, 5, 3, 2, 4, 5])
  })

  it('for receives as for sends', () => {
    const schedule = messages(2, [
      [0, 1, 0],
      [0, 1, 1, -1, 0],
    ])
    const { programs } = lower(schedule, upTo(2))
    expect(programs[0]!.gates).toBe(noGates)
    expect(gatesOf(programs[1]!)).toEqual({ sends: [0], receives: [1], ofSend: [], ofReceive: [-1, 0] })
  })

  it('that has the frames of all ranks of the process', () => {
    // Ranks 0 and 1 share a process; rank 1 waits for nothing of its own.
    const schedule = messages(4, [
      [0, 2, 0],
      [1, 2, 1, 0],
      [0, 3, 1],
    ])
    const { programs } = lower(schedule, Int32Array.of(0, 0, 1, 2))
    expect(gatesOf(programs[0]!)).toEqual({ sends: [1], receives: [0], ofSend: [-1, 0, -1], ofReceive: [] })
  })

  it('in rounds where messages have different phases at their ends', () => {
    const builder = new ScheduleBuilder({ specification: nothingOf(2), strategy: 'test' })
    builder.send(0, 0, 1).receive(1, 5, 0)
    builder.send(1, 6, 0).after(5).receive(0, 1, 1)
    builder.send(0, 7, 1).after(6).receive(1, 8, 0).after(7)
    const schedule = builder.build()
    expect(verify(schedule).violations).toEqual([])
    const { programs } = lower(schedule, upTo(2))
    expect([...programs[0]!.send.round]).toEqual([0, 2])
    expect(gatesOf(programs[0]!)).toEqual({ sends: [1], receives: [1], ofSend: [-1, 0], ofReceive: [-1] })
    expect(gatesOf(programs[1]!)).toEqual({
      sends: [0, 1],
      receives: [1, 1],
      ofSend: [0],
      ofReceive: [-1, 1],
    })
  })

  it('unless no frame is to be waited for', () => {
    const schedule = messages(2, [[0, 1, 4, 3]])
    expect(lower(schedule, upTo(2)).programs.every(({ gates }) => gates === noGates)).toBe(true)
  })
})

it('programs of schedules without waits have no gates, and as many tasks and bringers as before', () => {
  for (const algorithm of algorithms) {
    if ((algorithm.refuses?.({ ranks: 8 }) ?? null) !== null) continue
    const schedule = scheduleOf(algorithm, { ranks: 8, segments: 2 })
    if (schedule.opAfter.length > 0) continue
    for (const { gates, dependencies, send, receive, combine } of lower(schedule, upTo(8)).programs) {
      expect(gates).toBe(noGates)
      expect(dependencies.needs.length).toBe(send.peer.length + combine.left.length)
      expect(dependencies.useStart.length).toBe(receive.peer.length + combine.left.length + 1)
    }
  }
})
