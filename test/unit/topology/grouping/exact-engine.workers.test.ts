import { expect, test } from 'vitest'
import { plan } from '../../../../src/neighborhood/plan/plan.js'
import { mooreTopology } from '../../../../src/topology/generate/moore.js'
import { prepareEngine } from '../../../../src/topology/grouping/exact-round.js'
import { groupFriends } from '../../../../src/topology/grouping/group-friends.js'

test('the engine exact needs no preparation: a thread solves, and finds the same groups', async () => {
  const topology = mooreTopology({ dims: [4, 4], radius: 1 })
  const options = { k: 2, mode: 'agnostic', engine: 'exact' } as const
  const inThread = groupFriends(topology, options)
  expect(inThread.weight).toBeGreaterThanOrEqual(
    groupFriends(topology, { ...options, engine: 'greedy' }).weight,
  )
  const planned = plan(topology, { kind: 'common-neighbor', ...options })
  expect(planned.groups?.engine).toBe('exact')
  // What was started stays: the engine is prepared already.
  await prepareEngine('exact')
  expect({ ...groupFriends(topology, options), timeMs: 0 }).toEqual({ ...inThread, timeMs: 0 })
})
