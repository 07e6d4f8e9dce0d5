import { mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Communicator, local, type PlanStore, planDirectory, run } from 'rankweave'
import { plan, type Strategy } from 'rankweave/schedule'
import { cartTopology, inNeighbors, mooreTopology } from 'rankweave/topology'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { decodePlan, encodePlan, planDigest, planKey } from '../../../../src/neighborhood/plan/plan-store.js'
import { agreedPlan } from '../../../../src/topology-communicator/distributed/agreed-plan.js'
import { memoryExchanges } from '../../../support/memory-exchange.js'

const topology = mooreTopology({ dims: [3, 4], radius: 1 })
const combining: Strategy = { kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: 1 }
const strategies: readonly Strategy[] = [
  { kind: 'direct' },
  combining,
  { kind: 'routed' },
  { kind: 'routed', radices: [3, 4] },
]

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rankweave-plans-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

it('a plan read is the plan written, and every strategy, radix and node has its own key', () => {
  const keys = new Set<string>()
  for (const strategy of strategies) {
    const made = plan(topology, strategy)
    const key = planKey(topology, strategy, null)
    const read = decodePlan(encodePlan(key, made), key, topology)
    expect(read).toEqual(made)
    expect(planDigest(read)).toBe(planDigest(made))
    keys.add(key)
    keys.add(planKey(topology, strategy, new Int32Array(12)))
    keys.add(planKey(topology, strategy, new Int32Array(12).fill(1, 6)))
    keys.add(planKey(mooreTopology({ dims: [4, 3], radius: 1 }), strategy, null))
  }
  expect(keys.size).toBe(4 * strategies.length)
})

it('grids of other dimensions with the same lists have keys of their own', () => {
  const [ring, flat] = [
    cartTopology({ dims: [4], periods: [true] }),
    cartTopology({ dims: [4, 1], periods: [true, false] }),
  ]
  expect(ring.outRank).toEqual(flat.outRank)
  expect(planKey(ring, { kind: 'cartesian' }, null)).not.toBe(planKey(flat, { kind: 'cartesian' }, null))
})

it('a truncated or altered file, one of another key, and a wrong plan in a whole file are refused', () => {
  const made = plan(topology, combining)
  const key = planKey(topology, combining, null)
  const bytes = encodePlan(key, made)
  const refusal = (given: Uint8Array, of = key) => {
    try {
      decodePlan(given, of, topology)
      return 'used'
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  const refused = new Set<string>()
  for (let length = 0; length < bytes.length; length += 97) refused.add(refusal(bytes.slice(0, length)))
  for (let at = 0; at < bytes.length; at += 89) {
    const altered = bytes.slice()
    altered[at] ^= 1
    refused.add(refusal(altered))
  }
  refused.add(refusal(bytes, planKey(topology, { kind: 'direct' }, null)))
  const wrong = { ...made, schedule: { ...made.schedule, opPeer: made.schedule.opPeer.map(() => 0) } }
  refused.add(refusal(encodePlan(key, wrong)))
  const shorter = { ...made, schedule: { ...made.schedule, entryTo: made.schedule.entryTo.slice(1) } }
  refused.add(refusal(encodePlan(key, shorter)))
  expect([...refused]).toEqual(['ERR_PLAN_CACHE'])
  expect(refusal(bytes)).toBe('used')
})

it('a directory is bounded: the plans used longest ago are removed, and what it cannot do it reports', async () => {
  const store = planDirectory(join(directory, 'plans'), { maxFiles: 2, maxBytes: 2_500 })
  const keys = ['a', 'b', 'c'].map((letter) => letter.repeat(64))
  for (const [second, key] of keys.entries()) {
    await store.write(key, new Uint8Array(1_000))
    await utimes(join(directory, 'plans', `${key}.plan`), second, second)
  }
  expect((await readdir(join(directory, 'plans'))).length).toBe(2)
  expect(await store.read(keys[0])).toBeNull()
  expect(await store.read(keys[2])).toHaveLength(1_000)
  await store.write(keys[0], new Uint8Array(2_000))
  expect(await readdir(join(directory, 'plans'))).toEqual([`${keys[0]}.plan`])
  await store.write(keys[1], new Uint8Array(3_000))
  expect(await store.read(keys[1])).toBeNull()

  const problems: string[] = []
  await writeFile(join(directory, 'file'), '')
  const impossible = planDirectory(join(directory, 'file'), { onProblem: (e) => problems.push(e.message) })
  await impossible.write(keys[0], new Uint8Array(1))
  expect(await impossible.read(keys[0])).toBeNull()
  expect(problems).toHaveLength(2)
  expect(() => planDirectory(directory, { maxFiles: 0 })).toThrow('an integer >= 1')
  expect(() => planDirectory(directory, null as never)).toThrow('expected an object of options, got null')
  expect(() => planDirectory(null as never)).toThrow('expected a path, got null')
  expect(() => planDirectory(directory, { onProblem: 'aloud' as never })).toThrow('onProblem, a function')
})

it('a directory is made with those above it, also by several at once, and one that cannot be is reported', async () => {
  const key = 'a'.repeat(64)
  const deep = join(directory, 'one', 'two', 'three')
  const problems: string[] = []
  const stores = [1, 2, 3].map(() => planDirectory(deep, { onProblem: (e) => problems.push(e.message) }))
  await Promise.all(stores.map((store) => store.write(key, new Uint8Array(9))))
  expect(await stores[0].read(key)).toHaveLength(9)
  expect(problems).toEqual([])
  // A file system that answers ENOENT below a directory that is there: the recursive mkdir of Node 20 never
  // ends.
  const nowhere = planDirectory('/proc/rankweave/plans', { onProblem: (e) => problems.push(e.message) })
  await nowhere.write(key, new Uint8Array(9))
  expect(problems).toHaveLength(1)
})

const mainWith = (planCache: PlanStore, strategy: Strategy) => {
  // Another object: plans in memory are those of the very topology.
  const again = mooreTopology({ dims: [3, 4], radius: 1 })
  return async (world: Communicator) => {
    const graph = await world.createTopology(again, { strategy, planCache })
    const blocks = await graph.neighborAllgather(Int32Array.of(world.rank))
    expect([...blocks]).toEqual([...inNeighbors(topology, world.rank)])
    return planDigest(await graph.plan())
  }
}

it.skipIf(process.platform === 'win32')('a device in the place of a plan is not read', async () => {
  const problems: string[] = []
  const store = planDirectory(directory, { onProblem: (error) => problems.push(error.message) })
  await symlink('/dev/zero', join(directory, 'key.plan'))
  expect(await store.read('key')).toBeNull()
  expect(problems).toEqual([expect.stringContaining('expected a regular file at key.plan')])
})

it('communicators plan by what is stored, and replace what is damaged', async () => {
  const problems: string[] = []
  const store = planDirectory(directory, { onProblem: (error) => problems.push(error.message) })
  for (const strategy of strategies) {
    const options = { ranks: topology.ranks, fabric: local({ processes: 3, seed: 2 }) }
    const expected = new Array(topology.ranks).fill(planDigest(plan(topology, strategy)))
    expect(await run(mainWith(store, strategy), options)).toEqual(expected)
    const [file] = await readdir(directory)
    const path = join(directory, file)
    const bytes = await readFile(path)
    await writeFile(path, bytes.subarray(0, bytes.length - 1))
    expect(await run(mainWith(store, strategy), options)).toEqual(expected)
    const replaced = decodePlan(await readFile(path), file.slice(0, 64), topology)
    expect(planDigest(replaced)).toBe(expected[0])
    await rm(path)
  }
  expect(problems.length).toBeGreaterThanOrEqual(strategies.length)
  expect(new Set(problems)).toEqual(new Set(['a cached plan is not used: it is truncated or altered']))
})

it('a store that rejects or returns no bytes is as one without plans, and its reason is reported', async () => {
  const options = { ranks: topology.ranks, fabric: local({ processes: 2 }) }
  const expected = new Array(topology.ranks).fill(planDigest(plan(topology, combining)))
  const fails = async () => {
    throw new Error('out of order')
  }
  const noBytes = async (value: unknown) => value as Uint8Array
  const empty = async () => null
  const written = async () => {}
  for (const store of [
    { read: fails, write: written },
    { read: empty, write: fails },
    { read: () => noBytes('text'), write: written },
    { read: () => noBytes(undefined), write: written },
    { read: () => noBytes([1]), write: written },
  ]) {
    const problems: unknown[] = []
    const planCache = {
      ...store,
      onProblem: (error: Error) => problems.push((error as { code?: string }).code),
    }
    expect(await run(mainWith(planCache, combining), options)).toEqual(expected)
    expect(new Set(problems)).toEqual(new Set(['ERR_PLAN_CACHE']))
  }
})

it('a process with another plan stored makes all plan afresh; what cannot be agreed on is one error on all', async () => {
  const right = plan(topology, { kind: 'routed' })
  const stale = plan(topology, { kind: 'direct' })
  const outcome = (firstOf: (me: number) => typeof right, afreshOf: (me: number) => typeof right | Error) =>
    Promise.all(
      memoryExchanges(5).map((exchange) => {
        const { me } = exchange
        const afresh = async () => {
          const made = afreshOf(me)
          if (made instanceof Error) throw made
          return made
        }
        const hasRanks = me !== 4
        return agreedPlan(exchange, hasRanks ? async () => firstOf(me) : null, hasRanks ? afresh : null).then(
          (agreed) => (agreed === null ? null : planDigest(agreed)),
          ({ code }) => code as string,
        )
      }),
    )
  const all = new Array(4).fill(planDigest(right))
  expect(
    await outcome(
      () => right,
      () => stale,
    ),
  ).toEqual([...all, null])
  expect(
    await outcome(
      (me) => (me === 2 ? stale : right),
      () => right,
    ),
  ).toEqual([...all, null])
  const differ = (me: number) => (me === 1 ? stale : right)
  expect(await outcome(differ, differ)).toEqual(new Array(5).fill('ERR_PLAN_MISMATCH'))
})

it('ranks that differ in whether plans are stored are rejected, and what is no store is refused', async () => {
  const store: PlanStore = { read: async () => null, write: async () => {} }
  const codes = await run(
    async (world) => {
      const code = ({ code }: { code: string }) => code
      const refused = await world.createTopology(topology, { planCache: {} as PlanStore }).catch(code)
      const mute = { ...store, onProblem: 'aloud' } as unknown as PlanStore
      expect(await world.createTopology(topology, { planCache: mute }).catch(code)).toBe('ERR_ARGUMENT')
      const options = world.rank === 5 ? { planCache: store } : {}
      return [refused, await world.createTopology(topology, options).then(() => 'made', code)]
    },
    { ranks: topology.ranks, fabric: local({ processes: 3, seed: 2 }) },
  )
  expect(codes[5]).toEqual(['ERR_ARGUMENT', 'ERR_COLLECTIVE_MISMATCH'])
})
