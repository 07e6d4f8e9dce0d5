import fc from 'fast-check'
import { lower, type NeighborSchedule, opKind, verify } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { countMessages, forEachOperation } from '../../src/schedule/walk.js'
import { idlePhases, withIdlePhases } from '../support/idle-phases.js'
import { lowerProcess } from '../support/lower-process.js'
import { interpret } from '../support/lowered-interpreter.js'
import { placements } from '../support/random-placements.js'
import { plans } from '../support/random-plans.js'
import { cases } from '../support/soak.js'

/** Runs the lowered schedule with payloads that name their origin and compares with the definition. */
function run(schedule: NeighborSchedule, placement: Int32Array, processes: number) {
  const lowered = lower(schedule, placement, processes)
  const result = interpret(lowered, (rank, place) => `${rank}.${place}`)
  const { ranks, inStart, inRank } = schedule.topology
  for (let rank = 0; rank < ranks; rank++) {
    const expected = Array.from(inRank.subarray(inStart[rank], inStart[rank + 1]), (source) => `${source}.0`)
    expect(Array.from(expected, (_, slot) => result.slots[rank].get(slot))).toEqual(expected)
    expect(result.slots[rank].size).toBe(expected.length)
  }
  return { ...result, lowered }
}

const placed = plans.chain((schedule) =>
  fc.record({ schedule: fc.constant(schedule), where: placements(schedule.topology.ranks) }),
)

describe('a lowered plan', () => {
  test('delivers on every placement, and every process computes its program alone', () => {
    fc.assert(
      fc.property(placed, ({ schedule, where: { placement, processes } }) => {
        expect(verify(schedule).violations).toEqual([])
        const { lowered, messagesSent, framesSent } = run(schedule, placement, processes)
        let inside = 0
        for (const program of lowered.programs) {
          expect(lowerProcess(schedule, placement, program.process)).toEqual(program)
          inside += program.counts.messagesInside
        }
        expect(messagesSent + inside).toBe(countMessages(schedule).messages)
        expect(framesSent).toBeLessThanOrEqual(processes * (processes - 1) * schedule.phases)
      }),
      { numRuns: cases(1_000, 400) },
    )
  })

  test('on one rank per process sends the messages of the plan', () => {
    fc.assert(
      fc.property(plans, (schedule) => {
        const placement = Int32Array.from({ length: schedule.topology.ranks }, (_, rank) => rank)
        const { messagesSent, framesSent, lowered } = run(schedule, placement, placement.length)
        expect(messagesSent).toBe(countMessages(schedule).messages)
        const distinct = new Set<string>()
        forEachOperation(schedule, (op, rank, phase) => {
          if (schedule.opKind[op] === opKind.send) distinct.add(`${rank} ${schedule.opPeer[op]} ${phase}`)
        })
        expect(framesSent).toBe(distinct.size)
        for (const { counts, ranks } of lowered.programs) {
          expect([counts.messagesInside, ranks.length]).toEqual([0, 1])
        }
      }),
      { numRuns: cases(300) },
    )
  })

  test('delivers when messages are sent and received in different phases', () => {
    fc.assert(
      fc.property(placed, idlePhases, ({ schedule, where: { placement, processes } }, pauses) => {
        const stretched = withIdlePhases(schedule, pauses)
        expect(verify(stretched).violations).toEqual([])
        run(stretched, placement, processes)
      }),
      { numRuns: cases(500) },
    )
  })
})
