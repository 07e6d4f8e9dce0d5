import fc from 'fast-check'
import { algorithms, goalText, lower, opKind, type Schedule, scheduleOf, verify } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { withPorts } from '../../src/schedule/lower/with-ports.js'
import { pairMessages } from '../../src/schedule/message-pairs.js'
import { upTo } from '../../src/schedule/specification.js'
import { parseGoal, stuckOperations } from '../support/goal.js'
import { idlePhases, withIdlePhases } from '../support/idle-phases.js'
import { interpret } from '../support/lowered-interpreter.js'
import { type ListedOperation, operationsOf } from '../support/operation-list.js'
import { collectiveWishes, randomReduction } from '../support/random-collectives.js'
import { placements } from '../support/random-placements.js'
import { plans } from '../support/random-plans.js'
import { withWaits } from '../support/random-waits.js'
import { chooseBy } from '../support/schedule-faults.js'
import { cases, perTier } from '../support/soak.js'
import { interpret as execute, type Value } from '../support/value-interpreter.js'

/** Messages as pairs of their ends, without phases and waits, in an order that does not depend on phases. */
function messagesOf(schedule: Schedule): string[] {
  const operations = operationsOf(schedule)
  const partner = pairMessages(schedule)
  const text = ({ rank, peer, tag, entries }: ListedOperation) => JSON.stringify([rank, peer, tag, entries])
  return operations
    .flatMap((operation, op) =>
      operation.kind === opKind.send ? [`${text(operation)} ${text(operations[partner[op]])}`] : [],
    )
    .sort()
}

/** Messages of a pair and tag, and copies and combinations of a rank, in their order. */
function orderOf(schedule: Schedule): Map<string, string[]> {
  const order = new Map<string, string[]>()
  for (const { rank, kind, peer, tag, entries } of operationsOf(schedule)) {
    const key = kind <= opKind.receive ? `${rank} ${kind} ${peer} ${tag}` : `${rank}`
    order.set(key, [...(order.get(key) ?? []), JSON.stringify([kind, entries])])
  }
  return order
}

function expectLimited(schedule: Schedule, ports: number): void {
  const operations = operationsOf(schedule)
  const partner = pairMessages(schedule)
  for (let rank = 0; rank < schedule.specification.ranks; rank++) {
    const sends = operations.filter((op) => op.rank === rank && op.kind === opKind.send && op.peer !== rank)
    for (const { phase, after } of sends) {
      const inProgress = sends.filter((other) => other.phase > after && other.phase <= phase)
      expect(inProgress.length).toBeLessThanOrEqual(ports)
    }
  }
  for (const [op, other] of partner.entries())
    if (other !== -1) expect(operations[op].phase).toBe(operations[other].phase)
}

/** Whether a schedule means the same with ports, and its programs run to the end with so many sends at once. */
function expectSame(
  schedule: Schedule,
  ports: number,
  { placement, processes }: { readonly placement: Int32Array; readonly processes: number },
  seed: number,
): void {
  const limited = withPorts(schedule, ports)
  const { violations } = verify(limited)
  expect(violations).toEqual([])
  if (limited !== schedule) expectLimited(limited, ports)
  expect(messagesOf(limited)).toEqual(messagesOf(schedule))
  expect(orderOf(limited)).toEqual(orderOf(schedule))
  const { slots, faults } = execute(schedule)
  expect(faults).toEqual([])
  expect(execute(limited)).toMatchObject({ slots, faults: [] })
  const { ownStart, ownBlock } = schedule.specification
  const own = (rank: number, place: number): Value => ownBlock[ownStart[rank] + place]
  const combine = (left: Value, right: Value): Value => [left, right]
  const run = interpret<Value>(lower(limited, placement, processes), own, { combine, seed })
  expect(run.slots.map((row, rank) => slots[rank].map((_, slot) => row.get(slot)))).toEqual(slots)

  const alone = upTo(schedule.specification.ranks)
  const inProgress = new Int32Array(alone.length)
  let most = 0
  const watch = {
    sends: (process: number) => {
      most = Math.max(most, ++inProgress[process])
    },
    arrives: (process: number) => inProgress[process]--,
    combines: () => {},
  }
  interpret<Value>(lower(limited, alone), own, { combine, seed, watch })
  expect(most).toBeLessThanOrEqual(ports)
  expect(inProgress.every((count) => count === 0)).toBe(true)
}

const portCounts = fc.constantFrom(1, 1, 2, 3, 6)

const all = [1, 2, 3, 4, 5, 7, 8]

describe('a schedule with ports', () => {
  test.each(algorithms)(
    'of $id moves the same, is proved, and has no more sends in progress',
    (algorithm) => {
      for (const ranks of perTier({ test: [3, 5, 8], soak: all, long: all })) {
        for (const segments of ranks === 5 ? [1, 2] : [1]) {
          const shape = { ranks, root: ranks >> 1, segments }
          if ((algorithm.refuses?.(shape) ?? null) !== null) continue
          const schedule = scheduleOf(algorithm, shape)
          const placement = Int32Array.from({ length: ranks }, (_, rank) => rank >> 1)
          for (const ports of [1, 2]) {
            expectSame(schedule, ports, { placement, processes: (ranks + 1) >> 1 }, ranks + ports)
            const goal = parseGoal(goalText(withPorts(schedule, ports), { bytes: 8 }))
            expect(stuckOperations(goal)).toEqual([])
          }
        }
      }
    },
  )

  test('of random neighborhoods does so, with any placement', () => {
    const placed = plans.chain((schedule) =>
      fc.record({ schedule: fc.constant(schedule), where: placements(schedule.topology.ranks) }),
    )
    fc.assert(
      fc.property(
        placed,
        portCounts,
        fc.integer(),
        fc.boolean(),
        ({ schedule, where }, ports, seed, waits) => {
          expectSame(waits ? withWaits(schedule, chooseBy(seed)) : schedule, ports, where, seed)
        },
      ),
      { numRuns: cases(400, 80) },
    )
  })

  test('of random reductions does so, also when messages are sent and received in different phases', () => {
    const placed = collectiveWishes.chain((wish) =>
      fc.record({ schedule: fc.constant(randomReduction(wish)), where: placements(wish.ranks) }),
    )
    fc.assert(
      fc.property(
        placed,
        portCounts,
        fc.integer(),
        fc.option(idlePhases),
        fc.boolean(),
        ({ schedule, where }, ports, seed, idle, waits) => {
          const apart = idle === null ? schedule : withIdlePhases(schedule, idle)
          expectSame(waits ? withWaits(apart, chooseBy(seed)) : apart, ports, where, seed)
        },
      ),
      { numRuns: cases(400, 80) },
    )
  })
})
