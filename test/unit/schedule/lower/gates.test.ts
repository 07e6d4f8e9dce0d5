import { algorithms, lower, type ProcessProgram, type Schedule, scheduleOf, verify } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { noGates } from '../../../../src/schedule/lower/lower-frames.js'
import { upTo } from '../../../../src/schedule/specification.js'
import { type BareMessage, scheduleOfMessages } from '../../../support/message-schedules.js'

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
  it('for receives as for sends', () => {
    const schedule = messages(2, [
      [0, 1, 0],
      [0, 1, 1, -1, 0],
    ])
    const { programs } = lower(schedule, upTo(2))
    expect(programs[0]!.gates).toBe(noGates)
    expect(gatesOf(programs[1]!)).toEqual({ sends: [0], receives: [1], ofSend: [], ofReceive: [-1, 0] })
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
