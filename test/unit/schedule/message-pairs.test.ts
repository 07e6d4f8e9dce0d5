import { expect, test } from 'vitest'
import { below, mulberry32 } from '../../../src/base/random.js'
import { NeighborScheduleBuilder } from '../../../src/schedule/builder.js'
import { opKind, type Schedule } from '../../../src/schedule/ir.js'
import { pairMessages } from '../../../src/schedule/message-pairs.js'
import { operationsOf } from '../../support/operation-list.js'
import { topologyOf } from './fixtures.js'

/** Queues of operations by source, destination and tag, in the order of the operations. */
function expectedPairs(schedule: Schedule): number[] {
  const operations = operationsOf(schedule)
  const pairs = new Array<number>(operations.length).fill(-1)
  const receives = new Map<string, number[]>()
  operations.forEach(({ rank, kind, peer, tag }, op) => {
    if (kind !== opKind.receive) return
    const key = `${peer} ${rank} ${tag}`
    receives.set(key, [...(receives.get(key) ?? []), op])
  })
  operations.forEach(({ rank, kind, peer, tag }, op) => {
    const receive = kind === opKind.send ? receives.get(`${rank} ${peer} ${tag}`)?.shift() : undefined
    if (receive === undefined) return
    pairs[op] = receive
    pairs[receive] = op
  })
  return pairs
}

test('pairMessages matches first in, first out for every source, destination and tag, and leaves the others', () => {
  const random = mulberry32(5)
  let [matched, left] = [0, 0]
  for (let i = 0; i < 800; i++) {
    const ranks = 1 + below(random, 4)
    const builder = new NeighborScheduleBuilder({ topology: topologyOf(ranks, []), strategy: 'random' })
    for (let n = below(random, 24); n > 0; n--) {
      const [rank, peer, phase] = [below(random, ranks), below(random, ranks), below(random, 3)]
      const kind = below(random, 7)
      if (kind === 0) builder.copy(rank, phase)
      else if (kind < 4) builder.send(rank, phase, peer, below(random, 3))
      else builder.receive(rank, phase, peer, below(random, 3))
    }
    const schedule = builder.build()
    const pairs = [...pairMessages(schedule)]
    expect(pairs).toEqual(expectedPairs(schedule))
    matched += pairs.filter((partner) => partner !== -1).length
    left += pairs.filter((partner) => partner === -1).length
  }
  expect(matched).toBeGreaterThan(1000)
  expect(left).toBeGreaterThan(1000)
})
