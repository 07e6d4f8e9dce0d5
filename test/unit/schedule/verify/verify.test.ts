import { describe, expect, test } from 'vitest'
import { type Schedule, scheduleTag } from '../../../../src/schedule/ir.js'
import { verify } from '../../../../src/schedule/verify/verify.js'
import { type ViolationCode, violationCodes } from '../../../../src/schedule/verify/violations.js'
import { builderFor, directSchedule, friendsSchedule, topologyOf } from '../fixtures.js'

const friends = friendsSchedule()

/** A copy of the friends schedule in which one array was changed. */
function broken(change: (schedule: Writable) => void): Schedule {
  const schedule = structuredClone(friends) as Writable
  change(schedule)
  return schedule
}
type Writable = { -readonly [K in keyof Schedule]: Schedule[K] }

const edge = topologyOf(2, [[0, 1]])

/** Two ranks, one edge; `phases` and everything else by the caller. */
function small(phases: number, build: (builder: ReturnType<typeof builderFor>) => void): Schedule {
  const builder = builderFor(edge, phases)
  build(builder)
  return builder.build()
}

/** The edge's own message, as it should be. */
function deliver(builder: ReturnType<typeof builderFor>, sendPhase = 0, receivePhase = sendPhase): void {
  builder.send(0, sendPhase, 1, scheduleTag.direct).add(0, 0)
  builder.receive(1, receivePhase, 0, scheduleTag.direct).add(0, 1)
}

const seen = new Set<ViolationCode>()

function codesOf(schedule: Schedule, topology = schedule.topology): ViolationCode[] {
  const { violations, ok, count } = verify(schedule, topology)
  expect(ok).toBe(violations.length === 0)
  expect(count).toBe(violations.length)
  for (const { code } of violations) seen.add(code)
  return violations.map(({ code }) => code)
}

describe('verify accepts', () => {
  test('a schedule without ranks', () => {
    expect(codesOf(builderFor(topologyOf(0, []), 1).build())).toEqual([])
  })

  test('messages with several tags, in order for each tag', () => {
    const topology = topologyOf(2, [
      [0, 1],
      [0, 1],
    ])
    const builder = builderFor(topology, 1)
    builder.send(0, 0, 1, 9).add(0, 0)
    builder.send(0, 0, 1, 4).add(0, 0)
    builder.receive(1, 0, 0, 4).add(0, 1)
    builder.receive(1, 0, 0, 9).add(0, 2)
    expect(codesOf(builder.build())).toEqual([])
  })

  test('a message that the receiver lists in a later phase', () => {
    expect(codesOf(small(3, (b) => deliver(b, 0, 2)))).toEqual([])
    expect(codesOf(small(3, (b) => deliver(b, 2, 0)))).toEqual([])
  })

  test('a block that arrives twice and is used twice', () => {
    // Rank 1 keeps block 0 in a temporary place for rank 2, and gets it again for its own slot.
    const topology = topologyOf(3, [
      [0, 1],
      [0, 2],
    ])
    const builder = builderFor(topology, 2)
    const staged = builder.stage(1)
    builder.send(0, 0, 1, scheduleTag.exchange).add(0, 0)
    builder.receive(1, 0, 0, scheduleTag.exchange).add(0, staged)
    builder.send(0, 0, 1, scheduleTag.direct).add(0, 0)
    builder.receive(1, 0, 0, scheduleTag.direct).add(0, 1)
    builder.send(1, 1, 2, scheduleTag.combined).add(0, staged)
    builder.receive(2, 1, 1, scheduleTag.combined).add(0, 1)
    expect(codesOf(builder.build())).toEqual([])
  })

  test('a rank that sends to itself in one phase', () => {
    const builder = builderFor(topologyOf(1, [[0, 0]]), 1)
    builder.send(0, 0, 0, 0).add(0, 0)
    builder.receive(0, 0, 0, 0).add(0, 1)
    expect(codesOf(builder.build())).toEqual([])
  })
})

test('verify takes no memory for temporary places that no operation touches', () => {
  const most = 2 ** 31 - 1
  const schedule = directSchedule(topologyOf(2, [[0, 1]]))
  expect(verify({ ...schedule, staging: Int32Array.of(most, most) }, schedule.topology)).toMatchObject({
    ok: true,
  })
  // Rank 1 receives into its last temporary place instead of slot 0, which is place 1.
  const entryTo = schedule.entryTo.map((place) => (place === 1 ? most : place))
  expect(
    verify({ ...schedule, staging: Int32Array.of(most, most), entryTo }, schedule.topology).violations,
  ).toMatchObject([
    { code: 'slot-missing', rank: 1 },
    { code: 'unused-delivery', rank: 1 },
  ])
})

describe('verify rejects', () => {
  test('arrays that do not fit together, without further checks', () => {
    expect(codesOf(broken((s) => (s.staging = Int32Array.of(1))))).toEqual(['structure'])
    expect(codesOf(broken((s) => (s.opStart[3] = 1)))).toEqual(['structure'])
    expect(codesOf(broken((s) => (s.entryTo = s.entryTo.subarray(1))))).toEqual(['structure'])
    expect(codesOf(broken((s) => (s.opPeer[0] = 7)))).toEqual(['structure'])
    expect(codesOf(broken((s) => (s.opKind[0] = 3)))).toEqual(['structure'])
    expect(codesOf(broken((s) => (s.opTag[0] = -1)))).toEqual(['structure'])
    expect(codesOf(broken((s) => (s.entryBlock[0] = 7)))).toEqual(['structure'])
    expect(codesOf(broken((s) => (s.entryFrom[0] = 3)))).toEqual(['structure'])
    expect(codesOf(broken((s) => (s.entryTo[0] = 0)))).toEqual(['structure'])
    expect(codesOf(broken((s) => (s.staging[3] = -1)))).toEqual(['structure'])
    expect(codesOf(broken((s) => (s.phases = 1.5)))).toContain('structure')
    expect(verify(broken((s) => (s.phases = -1))).violations[0]).toEqual({
      code: 'structure',
      rank: 0,
      message: 'phases must be an integer of at least 0, got -1',
    })
  })

  test('waits of copies, and waits that are not for earlier phases', () => {
    const delivered = small(3, (b) => {
      deliver(b, 2)
      b.copy(0, 2)
    })
    const waiting = (...afters: number[]) => ({ ...delivered, opAfter: Int32Array.from(afters) })
    const messageOf = (schedule: Schedule) => verify(schedule).violations.map(({ message }) => message)
    expect(codesOf(waiting(-1, -1, 1))).toEqual([])
    expect(messageOf(waiting(1, -1, 2))).toEqual([
      'receive from rank 0 with tag 2 in phase 2 (operation 2) of rank 1: it can wait for phases before its own, 2, got 2',
    ])
    expect(messageOf(waiting(-2, -1, -1))).toEqual([
      'send to rank 1 with tag 2 in phase 2 (operation 0) of rank 0: it can wait for phases before its own, 2, got -2',
    ])
    expect(messageOf(waiting(-1, 0, -1))).toEqual([
      'copy in phase 2 (operation 1) of rank 0: a copy cannot wait for phases, got 0',
    ])
    expect(messageOf(waiting(0, 0))).toEqual(['opAfter must have 3 elements, got 2'])
    expect(codesOf(waiting(0, 0))).toEqual(['structure'])
  })

  test('another topology', () => {
    expect(codesOf(friends, edge)).toEqual(['topology-differs'])
    const swapped = structuredClone(friends.topology)
    swapped.inRank.set([1, 0], swapped.inStart[2])
    expect(codesOf(friends, swapped)).toEqual(['topology-differs'])
    expect(codesOf(friends, { ...friends.topology, pairing: 'cartesian' })).toEqual(['topology-differs'])
    expect(codesOf(friends, structuredClone(friends.topology))).toEqual([])
    const two = topologyOf(3, [
      [0, 1],
      [0, 2],
    ])
    const one = topologyOf(3, [[0, 1]])
    expect(codesOf(directSchedule(one), two)).toEqual(['topology-differs'])
    expect(codesOf(directSchedule(two), one)).toEqual(['topology-differs'])
  })

  test('a send without its receive', () => {
    const codes = codesOf(small(1, (b) => b.send(0, 0, 1, scheduleTag.direct).add(0, 0)))
    expect(codes).toEqual(['send-unmatched', 'slot-missing'])
  })

  test('a receive without its send', () => {
    const codes = codesOf(small(1, (b) => b.receive(1, 0, 0, scheduleTag.direct).add(0, 1)))
    expect(codes).toEqual(['receive-unmatched'])
  })

  test('tags that differ', () => {
    const schedule = small(1, (b) => {
      b.send(0, 0, 1, 3).add(0, 0)
      b.receive(1, 0, 0, 4).add(0, 1)
    })
    expect(codesOf(schedule)).toEqual(['send-unmatched', 'receive-unmatched'])
  })

  test('other blocks than expected, and the same blocks in another order', () => {
    const sends = (blocks: readonly number[]) => {
      const schedule = structuredClone(friends) as Writable
      const op = schedule.opTag.indexOf(scheduleTag.combined)
      for (const [i, block] of blocks.entries()) {
        const e = schedule.entryStart[op] + i
        schedule.entryBlock[e] = block
        schedule.entryFrom[e] = block === 0 ? 0 : 2
      }
      return schedule
    }
    expect(codesOf(sends([0, 1]))).toEqual([])
    expect(codesOf(sends([1, 0]))).toEqual(['blocks-differ'])
    expect(codesOf(sends([0, 0]))).toContain('blocks-differ')
    expect(verify(sends([1, 0])).violations[0].message).toMatch(
      /^rank \d+ sends blocks \[1, 0\] to rank (\d+) with tag \d+, but rank \1 expects blocks \[0, 1\]$/,
    )
  })

  test('a copy from a place that its own phase fills later', () => {
    const early = small(1, (b) => {
      const staged = b.stage(1)
      b.copy(1, 0).add(0, staged, 1)
      b.send(0, 0, 1, 0).add(0, 0)
      b.copy(1, 0).add(0, 1, staged)
      b.receive(1, 0, 0, 0).add(0, b.stage(1))
    })
    expect(verify(early).violations[0].message).toBe(
      'rank 1 reads block 0 from place 2 in phase 0, which holds nothing yet',
    )
  })

  test('a read before the block has arrived', () => {
    const early = small(2, (b) => {
      const staged = b.stage(0)
      b.copy(0, 0).add(0, 0, staged)
      b.send(0, 0, 1, 0).add(0, staged)
      b.receive(1, 0, 0, 0).add(0, 1)
    })
    expect(codesOf(early)).toEqual(['place-empty'])
    expect(verify(early).violations[0].message).toBe(
      'rank 0 sends block 0 from place 1 in phase 0, in which it computes it: a send reads what is there when its phase begins',
    )
    const passed = small(2, (b) => {
      b.receive(1, 0, 0, 0).add(0, b.slot(1, 0))
      b.send(1, 0, 0, 0).add(0, b.slot(1, 0))
      b.send(0, 0, 1, 0).add(0, 0)
      b.receive(0, 0, 1, 0).add(0, b.stage(0))
    })
    expect(verify(passed).violations[0].message).toMatch(
      /^rank 1 sends block 0 from place \d in phase 0, in which it receives it: a send reads/,
    )
    const late = small(2, (b) => {
      b.send(0, 0, 1, 0).add(0, b.stage(0))
      b.receive(1, 0, 0, 0).add(0, b.slot(1, 0))
      b.copy(0, 1).add(0, 0, 1)
    })
    expect(verify(late).violations[0].message).toMatch(
      /^rank 0 reads block 0 .* in phase 0, which holds nothing yet$/,
    )
  })

  test('an operation of a wrong structure is named by its kind, peer, tag and phase', () => {
    const messageOf = (change: (schedule: Writable) => unknown): string =>
      verify(broken(change)).violations[0].message
    const { opKind: kinds, opPeer, opTag, opPhase, specification } = broken(() => {})
    const { ranks } = specification
    expect(messageOf((s) => (s.opPeer[0] = 7))).toBe(
      `send to rank 7 with tag ${opTag[0]} in phase ${opPhase[0]} (operation 0) of rank 0: the peer of a send must be a rank from 0 to ${ranks - 1}, got 7`,
    )
    const receive = kinds.indexOf(1)
    expect(messageOf((s) => (s.opTag[receive] = -1))).toMatch(
      new RegExp(
        `^receive from rank ${opPeer[receive]} with tag -1 in phase ${opPhase[receive]} \\(operation`,
      ),
    )
    const copying = structuredClone(small(1, (b) => b.copy(0, 0).add(0, 0, 1))) as Writable
    copying.opTag[0] = 5
    expect(verify(copying).violations[0].message).toBe(
      'copy in phase 0 (operation 0) of rank 0: tag 5 is out of range',
    )
    expect(messageOf((s) => (s.opKind[0] = 9))).toMatch(/^operation of kind 9 in phase 0 \(operation 0\)/)
  })

  test('a read of another block', () => {
    const schedule = small(1, (b) => {
      b.send(0, 0, 1, 0).add(1, 0)
      b.receive(1, 0, 0, 0).add(1, 1)
    })
    expect(codesOf(schedule)).toEqual(['wrong-block', 'slot-wrong'])
  })

  test('a place written twice, and an own block overwritten', () => {
    const twice = small(1, (b) => {
      deliver(b)
      deliver(b)
    })
    expect(codesOf(twice)).toEqual(['place-rewritten'])
    const own = small(1, (b) => {
      deliver(b)
      b.copy(1, 0).add(0, 1, 0)
    })
    expect(codesOf(own)).toEqual(['place-rewritten'])
  })

  test('a delivery that is never used', () => {
    const schedule = small(1, (b) => {
      deliver(b)
      const staged = b.stage(1)
      b.send(0, 0, 1, scheduleTag.exchange).add(0, 0)
      b.receive(1, 0, 0, scheduleTag.exchange).add(0, staged)
    })
    expect(codesOf(schedule)).toEqual(['unused-delivery'])
  })

  test('ranks that wait for each other, and names them', () => {
    const topology = topologyOf(3, [
      [0, 1],
      [1, 2],
      [2, 0],
    ])
    const builder = builderFor(topology, 2)
    for (const rank of [0, 1, 2]) {
      builder.receive(rank, 0, (rank + 2) % 3, 0).add((rank + 2) % 3, 1)
      builder.send(rank, 1, (rank + 1) % 3, 0).add(rank, 0)
    }
    const schedule = builder.build()
    expect(codesOf(schedule)).toEqual(['deadlock'])
    const [violation] = verify(schedule).violations
    for (const rank of [0, 1, 2]) expect(violation.message).toContain(`rank ${rank} in phase 0`)
  })

  test('a rank that waits for itself', () => {
    const builder = builderFor(topologyOf(1, [[0, 0]]), 2)
    builder.send(0, 0, 0, 0).add(0, 0)
    builder.receive(0, 1, 0, 0).add(0, 1)
    expect(codesOf(builder.build())).toEqual(['deadlock'])
  })

  test('every violation code occurs, those of reductions in their own tests', () => {
    expect([...seen, 'slot-unordered', 'wrong-part'].sort()).toEqual([...violationCodes].sort())
  })
})

test('verify counts all violations and describes the first ones', () => {
  const builder = builderFor(
    topologyOf(
      300,
      Array.from({ length: 299 }, (_, r) => [r, r + 1] as const),
    ),
    1,
  )
  const nothing = builder.build()
  const full = verify(nothing)
  expect([full.count, full.violations.length, full.ok]).toEqual([299, 100, false])
  expect(verify(nothing, nothing.topology, { limit: 3 })).toMatchObject({ count: 299 })
  expect(verify(nothing, nothing.topology, { limit: 3 }).violations).toHaveLength(3)
})
