import { expect, test } from 'vitest'
import { plan } from '../../../../src/neighborhood/plan/plan.js'
import { erdosRenyiTopology } from '../../../../src/topology/generate/random-graphs.js'
import { mooreTopology } from '../../../../src/topology/generate/stencil.js'
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

test('a signal ends the engine exact while a thread solves, and the next search gets a new thread', async () => {
  // Its solver runs for seconds.
  const topology = erdosRenyiTopology({ ranks: 128, density: 0.3, seed: 1 })
  await prepareEngine('exact')
  const controller = new AbortController()
  const seen: string[] = []
  const options = { k: 2, mode: 'agnostic', engine: 'exact' } as const
  const search = () =>
    groupFriends(topology, {
      ...options,
      signal: controller.signal,
      onProgress: ({ activity, possible }) => {
        seen.push(`${activity} ${possible > 0}`)
        if (activity === 'solving') controller.abort()
      },
    })
  expect(search).toThrow(expect.objectContaining({ code: 'ERR_ABORTED' }))
  expect(seen.at(-1)).toBe('solving true')
  const small = mooreTopology({ dims: [4, 4], radius: 1 })
  const watched = groupFriends(small, { ...options, onProgress: () => {} })
  expect({ ...watched, timeMs: 0 }).toEqual({ ...groupFriends(small, options), timeMs: 0 })
})
