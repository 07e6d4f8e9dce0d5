import { lower, type NeighborSchedule, ScheduleBuilder, verify } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { specificationOf } from '../../../../src/collective/patterns/schedule-of.js'
import { isRankweaveError } from '../../../../src/errors.js'
import { countMessages } from '../../../../src/schedule/walk.js'
import { lowerProcess } from '../../../support/lower-process.js'
import { interpret } from '../../../support/lowered-interpreter.js'
import { builderFor, friendsSchedule, topologyOf } from '../fixtures.js'

const multigraph = topologyOf(5, '0 1, 0 1, 2 2, 1 0, 3 1, 2 2, 0 1, 3 0, 0 3')

/** Every slot of every rank has the payload of its source: exactly what the collective is defined to do. */
function expectDelivered(schedule: NeighborSchedule, placement: Int32Array) {
  const lowered = lower(schedule, placement)
  const run = interpret(lowered, (rank, place) => `block of rank ${rank}, place ${place}`)
  const { ranks, inStart, inRank } = schedule.topology
  for (let rank = 0; rank < ranks; rank++) {
    const sources = Array.from(inRank.subarray(inStart[rank], inStart[rank + 1]))
    const received = Array.from(sources, (_, slot) => run.slots[rank].get(slot))
    expect(received).toEqual(sources.map((source) => `block of rank ${source}, place 0`))
    expect(run.slots[rank].size).toBe(sources.length)
  }
  return { ...run, lowered }
}

describe('lower', () => {
  test('all ranks in one process: no frame, every slot is filled from contributions', () => {
    const schedule = friendsSchedule()
    const { framesSent, lowered } = expectDelivered(schedule, new Int32Array(7))
    expect(framesSent).toBe(0)
    expect(lowered.programs[0].counts).toEqual({
      framesSent: 0,
      framesReceived: 0,
      messagesSent: 0,
      messagesInside: countMessages(schedule).messages,
      blocksSent: 0,
    })
  })

  test('two processes: one frame per phase each way, every block once', () => {
    // Friends 0 and 1 on process 0, their neighbors 2 to 5 and rank 6 on process 1.
    const { lowered } = expectDelivered(friendsSchedule(), Int32Array.of(0, 0, 1, 1, 1, 1, 1))
    const [near, far] = lowered.programs
    expect(Array.from(near.send.peer)).toEqual([1, 1])
    expect(Array.from(near.send.messages)).toEqual([1, 4])
    // Round 0 takes block 0 to rank 6; round 1 need not take it again.
    expect(Array.from(near.send.valueStart)).toEqual([0, 1, 2])
    expect(Array.from(near.send.value, (v) => near.valueTerm[v])).toEqual([0, 1])
    expect(far.counts).toEqual({
      framesSent: 1,
      framesReceived: 2,
      messagesSent: 1,
      messagesInside: 0,
      blocksSent: 1,
    })
  })

  test('a block is not sent to the process of its origin', () => {
    // Rank 1 returns block 0 to rank 0's neighbor 2, which shares rank 0's process.
    const topology = topologyOf(3, '0 1, 0 2')
    const builder = builderFor(topology, 2)
    builder.send(0, 0, 1, 0).add(0, 0)
    builder.receive(1, 0, 0, 0).add(0, 1)
    builder.send(1, 1, 2, 0).add(0, 1)
    builder.receive(2, 1, 1, 0).add(0, 1)
    const { lowered, framesSent, blocksSent } = expectDelivered(builder.build(), Int32Array.of(0, 1, 0))
    expect([framesSent, blocksSent]).toEqual([2, 1])
    expect(lowered.programs[1].send.messages).toEqual(Int32Array.of(1))
  })

  test('a block that its origin does not hold is sent to where its origin lives', () => {
    // Rank 1 holds the block of rank 0, which shares its process with rank 2.
    const specification = {
      ...specificationOf({ collective: 'bcast' }, { ranks: 3 }),
      ownStart: Int32Array.of(0, 0, 1, 1),
      slotStart: Int32Array.of(0, 0, 0, 1),
      slotTerm: Int32Array.of(0),
    }
    const builder = new ScheduleBuilder({ specification, strategy: 'hand-made' })
    builder.send(1, 0, 2).add(0, 0)
    builder.receive(2, 0, 1).add(0, builder.slot(2, 0))
    const schedule = builder.build()
    expect(verify(schedule).violations).toEqual([])
    for (const placement of [Int32Array.of(0, 1, 0), Int32Array.of(0, 1, 2), Int32Array.of(0, 0, 0)]) {
      const { slots } = interpret(lower(schedule, placement), (rank) => `held by ${rank}`)
      expect([...slots[2].values()]).toEqual(['held by 1'])
    }
  })

  test('a block that arrives in the round in which it is sent on is missing there, also after frames of earlier rounds', () => {
    const topology = topologyOf(4, '0 1, 3 1, 0 2')
    const builder = builderFor(topology, 2)
    builder.send(3, 0, 1, 0).add(3, 0)
    builder.receive(1, 0, 3, 0).add(3, 2)
    builder.send(0, 1, 1, 0).add(0, 0)
    builder.receive(1, 1, 0, 0).add(0, 1)
    builder.send(1, 1, 2, 0).add(0, 1)
    builder.receive(2, 1, 1, 0).add(0, 1)
    expect(() => lower(builder.build(), Int32Array.of(0, 1, 2, 3))).toThrowError(
      expect.objectContaining({ code: 'ERR_SCHEDULE', details: { process: 1, block: 0 } }),
    )
  })

  test('lowerProcess equals lower; processes without ranks have empty programs', () => {
    const schedule = friendsSchedule()
    const placement = Int32Array.of(3, 3, 0, 0, 1, 3, 1)
    const { programs } = lower(schedule, placement, 6)
    expect(programs.map(({ ranks }) => Array.from(ranks))).toEqual([[2, 3], [4, 6], [], [0, 1, 5], [], []])
    for (const program of programs)
      expect(lowerProcess(schedule, placement, program.process)).toEqual(program)
    expect(programs[5].counts.framesReceived).toBe(0)
  })

  test.each([
    ['ERR_PLACEMENT', 'too short', () => lower(friendsSchedule(), Int32Array.of(0, 1))],
    ['ERR_PLACEMENT', 'negative', () => lower(friendsSchedule(), Int32Array.of(0, 1, 2, -3, 0, 0, 0))],
    ['ERR_PLACEMENT', 'no process', () => lowerProcess(friendsSchedule(), new Int32Array(7), -1)],
    [
      'ERR_PLACEMENT',
      'too large for a process',
      () => lowerProcess(friendsSchedule(), new Int32Array(7).fill(2 ** 30), 0),
    ],
    ['ERR_PLACEMENT', 'fewer than it names', () => lower(friendsSchedule(), new Int32Array(7).fill(2), 2)],
    ['ERR_PLACEMENT', 'too many', () => lower(friendsSchedule(), new Int32Array(7), 2 ** 24 + 1)],
    ['ERR_PLACEMENT', 'too large', () => lower(friendsSchedule(), new Int32Array(7).fill(2 ** 30))],
    [
      'ERR_SCHEDULE',
      'unmatched send',
      () => {
        const builder = builderFor(multigraph, 1)
        builder.send(0, 0, 1, 0).add(0, 0)
        lower(builder.build(), Int32Array.of(0, 1, 2, 3, 4))
      },
    ],
    [
      'ERR_SCHEDULE',
      'missing slot',
      () => lower(builderFor(multigraph, 1).build(), Int32Array.of(0, 1, 2, 3, 4)),
    ],
    [
      'ERR_SCHEDULE',
      'block that the sender does not have',
      () => {
        const builder = builderFor(topologyOf(3, [[0, 2]]), 1)
        builder.send(1, 0, 2, 0).add(0, 0)
        builder.receive(2, 0, 1, 0).add(0, 1)
        lower(builder.build(), Int32Array.of(0, 1, 2))
      },
    ],
    [
      'ERR_SCHEDULE',
      'cyclic wait',
      () => {
        const builder = builderFor(topologyOf(2, '0 1, 1 0'), 2)
        for (const rank of [0, 1]) {
          builder.receive(rank, 0, 1 - rank, 0).add(1 - rank, 1)
          builder.send(rank, 1, 1 - rank, 0).add(rank, 0)
        }
        lower(builder.build(), Int32Array.of(0, 1))
      },
    ],
  ] as const)('%s: %s', (code, _, build) => {
    let thrown: unknown
    try {
      build()
    } catch (error) {
      thrown = error
    }
    expect(isRankweaveError(thrown, code)).toBe(true)
  })
})
