import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { UndirectedGraph } from 'graphology'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TopologyInfo } from '../../../src/client/protocol/http.js'
import type { MountedWorldInfo } from '../../../src/client/protocol/worlds.js'
import { ServiceClient } from '../../../src/client/service-client.js'
import { WorldMember } from '../../../src/client/world-member.js'
import type { Communicator } from '../../../src/handles/communicator.js'
import { join } from '../../../src/launch/websocket/join.js'
import { pageBundle } from '../../support/page-bundle.js'
import { asking, startService } from '../../support/service.js'

const one = 'a'.repeat(32)
const other = 'b'.repeat(32)
const machine = 'cluster:nodes=13,cores=16,profile=simgrid-fast'

let started: Awaited<ReturnType<typeof startService>>
let client: ServiceClient
let stranger: ServiceClient
let topology: TopologyInfo
let plan: string

beforeAll(async () => {
  started = await startService({ tokens: [one, other], limits: { workers: 1 } })
  const { url } = started.service
  client = new ServiceClient({ url, token: one })
  stranger = new ServiceClient({ url, token: other })
  const matrix = new Uint8Array(readFileSync('test/matrices/dwt_193.mtx'))
  topology = await client.upload(matrix, { format: 'mtx', name: 'dwt' })
  const states: string[] = []
  const info = await client.plan({ topology: topology.id, k: 4 }, ({ state }) => states.push(state))
  expect(states.at(-1)).toBe('done')
  plan = info.id
})
afterAll(() => started.end())

const code = (expected: string) => expect.objectContaining({ name: 'RankweaveError', code: expected })

describe('a client of a service', () => {
  it('has a plan as text, as a schedule, by rank, simulated and exported', async () => {
    expect([topology]).toMatchObject(await client.topologies())
    expect(await client.topology(topology.id)).toMatchObject({ ranks: 193, name: 'dwt' })
    expect((await client.plans()).map(({ id }) => id)).toEqual([plan])
    const schedule = await client.schedule(plan)
    expect(schedule.specification.ranks).toBe(193)
    const [first] = (await client.scheduleText(plan, 1)).split('\n', 1)
    expect(JSON.parse(first)).toMatchObject({ version: 1 })
    const { operations } = await client.program(plan, 7)
    expect(operations.length).toBe(schedule.opStart[8] - schedule.opStart[7])
    expect(operations[0]).toMatchObject({ phase: 0, kind: 'send', after: null })
    const simulated = await client.simulation(plan, { machine, bytes: 64 })
    expect(simulated).toMatchObject({ ranks: 193, bytesPerContribution: 64 })
    expect(simulated.timeUs).toBeGreaterThan(0)
    expect(await client.cProgram(plan)).toContain('MPI_Init')
    expect(await client.goalText(plan, 8)).toMatch(/num_ranks 193\n/)
  })

  it('has the mapping of a plan with mapped ranks, and none of another one', async () => {
    const graph = await client.upload('rgg:16:r=0.4:seed=3', { format: 'spec' })
    const placed = { topology: graph.id, strategy: 'direct', machine: 'cluster:nodes=4,cores=4' }
    const { id, statistics } = await client.plan({ ...placed, map: 'auto' })
    const { slotOf, topology: unmapped } = await client.mapping(id)
    expect([...slotOf].sort((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, slot) => slot))
    expect(statistics['mapping']).toMatchObject({ topology: unmapped })
    await expect(client.mapping(plan)).rejects.toEqual(code('ERR_NOT_FOUND'))
  })

  it('uploads a graph of graphology, whose topology is that of its edges', async () => {
    const graph = new UndirectedGraph()
    for (const node of ['a', 'b', 'c']) graph.addNode(node)
    graph.addEdge('a', 'c', { weight: 2 })
    const uploaded = await client.upload(graph, { name: 'path' })
    expect(uploaded).toMatchObject({ ranks: 3, edges: 2, name: 'path' })
    graph.setAttribute('cost', 1n)
    await expect(client.upload(graph)).rejects.toEqual(code('ERR_ARGUMENT'))
  })

  it('gets errors with their codes, and what is of another token is not there', async () => {
    for (const ask of [
      () => stranger.topology(topology.id),
      () => stranger.planInfo(plan),
      () => stranger.schedule(plan),
      () => stranger.mapping(plan),
      () => stranger.removePlan(plan),
      () => stranger.planView(plan),
      () => stranger.report(plan),
      () => stranger.topologyView(topology.id),
      () => stranger.requestPlan({ topology: topology.id }),
    ])
      await expect(ask(), String(ask)).rejects.toEqual(code('ERR_NOT_FOUND'))
    expect(await stranger.topologies()).toEqual([])
    await expect(client.program(plan, 193)).rejects.toEqual(code('ERR_RANK'))
    await expect(client.plan({ topology: topology.id, strategy: 'nonsense' })).rejects.toEqual(
      code('ERR_STRATEGY'),
    )
    const tooFew = { topology: topology.id, strategy: 'direct', machine: 'cluster:nodes=2,cores=2' }
    await expect(client.plan(tooFew)).rejects.toEqual(code('ERR_MACHINE'))
    const nobody = new ServiceClient({ url: started.service.url })
    await expect(nobody.topologies()).rejects.toEqual(code('ERR_TOKEN'))
    const removed = await client.plan({ topology: topology.id, strategy: 'direct' })
    await client.removePlan(removed.id)
    await expect(client.planInfo(removed.id)).rejects.toEqual(code('ERR_NOT_FOUND'))
  })
})

describe('views', () => {
  it('have what pictures show, of a plan, of a rank, and as one file', async () => {
    const { neighborhood, statistics } = await client.topologyView(topology.id, { rank: 7 })
    expect(statistics.ranks).toBe(193)
    expect(neighborhood?.rank).toBe(7)
    const view = await client.planView(plan, { machine, bytes: 64, rank: 7 })
    expect(view.simulation!.speedup).toBeGreaterThan(0)
    expect(view.ranks.map(({ rank }) => rank)).toContain(7)
    const { statistics: counted } = await client.planInfo(plan)
    expect(view.groups).toMatchObject({ k: 4, count: counted['groups'] })
    expect((await client.planView(plan)).simulation).toBe(null)
    const html = await client.report(plan, { machine, bytes: 64 })
    expect(html).toMatch(/^<!doctype html>/i)
    expect(html).toContain('"strategy":"common-neighbor')
  })

  it.each([
    ['plans', 'rank=193', 'ERR_RANK'],
    ['plans', 'rank=-1', 'ERR_ARGUMENT'],
    ['plans', 'rank=1e3', 'ERR_ARGUMENT'],
    ['plans', 'bytes=99999999999', 'ERR_ARGUMENT'],
    ['plans', 'machine=nonsense', 'ERR_MACHINE'],
    ['plans', 'machine=cluster:nodes=1,cores=1&bytes=8', 'ERR_MACHINE'],
    ['plans', 'more=1', 'ERR_ARGUMENT'],
    ['topologies', 'rank=193', 'ERR_RANK'],
    ['topologies', 'machine=nonsense', 'ERR_ARGUMENT'],
    ['plans', 'rank=1&rank=2', 'ERR_ARGUMENT'],
    ['plans', 'rank=', 'ERR_ARGUMENT'],
    ['plans', 'rank=%EF%BC%91', 'ERR_ARGUMENT'],
    ['plans', '__proto__=1', 'ERR_ARGUMENT'],
  ])('of %s with %s are refused with %s', async (what, query, expected) => {
    const { json } = asking(started.service, one)
    const id = what === 'plans' ? plan : topology.id
    expect(await json(`/v1/${what}/${id}/view?${query}`)).toMatchObject({
      status: 400,
      body: { error: { code: expected } },
    })
  })
})

it('members of a world connect by the socket of the platform', async () => {
  const { url } = started.service
  const members = await Promise.all([1, 2].map(() => WorldMember.connect({ url, token: one })))
  const places = await Promise.all(members.map((member) => member.join({ name: 'pair', members: 2 })))
  const halves = await Promise.all(members.map((member) => member.split('world', 0)))
  expect(halves.map((half) => half!.size)).toEqual([2, 2])
  expect(await client.worlds()).toMatchObject([{ id: places[0].world, name: 'pair', joined: 2 }])
  expect(await stranger.worlds()).toEqual([])
  await Promise.all(members.map((member) => member.leave()))
  await Promise.all(members.map((member) => member.close()))
  await expect(WorldMember.connect({ url, token: 'x'.repeat(32) })).rejects.toEqual(code('ERR_TOKEN'))
  const nobody = WorldMember.connect({ url: 'http://127.0.0.1:9' })
  await expect(nobody).rejects.toEqual(code('ERR_SERVICE'))
})

it('the examples of the documentation do what they say', async () => {
  const blocks = readFileSync('docs/service.md', 'utf8').matchAll(/^```js\n(.*?)^```$/gms)
  const service = `'http://127.0.0.1:7878'`
  // Those that connect; programs, which the others need, join in other tests.
  const whole = Array.from(blocks, ([, block]) => block).filter((block) => block.includes(service))
  expect(whole).toHaveLength(2)
  const [plans, worlds] = whole.map((block) => {
    const body = block
      .replace(/^import .*$/m, '')
      .replaceAll(service, `${JSON.stringify(started.service.url)}, token: '${one}'`)
    return new Function(...['ServiceClient', 'WorldMember', 'console'], `return (async () => {${body}\n})()`)
  })
  const printed: unknown[][] = []
  const log = (...values: unknown[]) => printed.push(values)
  await plans(ServiceClient, WorldMember, { log })
  expect(printed.at(-1)).toMatchObject([{ direct: 12288, planned: 6144 }])
  await Promise.all(Array.from({ length: 4 }, () => worlds(ServiceClient, WorldMember, { log })))
  expect(await client.worlds()).toEqual([])
})

it('pages can load it: it imports no module of Node, and of packages only the one that the build takes in', () => {
  const { metafile } = pageBundle(`export * from 'rankweave/client'`)
  const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports.map(({ path }) => path))
  expect(imported.filter(isBuiltin)).toEqual([])
  const packages = Object.keys(metafile.inputs).flatMap(
    (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
  )
  expect([...new Set(packages)]).toEqual(['@noble/hashes'])
})

it('worlds of programs are opened, joined, listed and ended, by their tenant alone', async () => {
  const { programWorlds } = client
  const { joinUrl, token, ...info } = await programWorlds.open({ ranks: 4, processes: 2 })
  expect(joinUrl).toBe(`${started.service.url.replace('http', 'ws')}/v1/rendezvous`)
  expect(token.startsWith(`${info.id}.`)).toBe(true)
  expect(info).toMatchObject({ ranks: 4, processes: 2, ended: null })
  expect(await programWorlds.list()).toEqual([info])
  expect(await programWorlds.get(info.id)).toEqual(info)
  expect(await stranger.programWorlds.list()).toEqual([])
  await expect(stranger.programWorlds.end(info.id)).rejects.toEqual(code('ERR_NOT_FOUND'))
  expect((await programWorlds.end(info.id)).ended).toMatchObject({ lost: [], failed: null })
  expect((await programWorlds.get(info.id)).ended).not.toBeNull()
  for (const id of ['', 'a/b', info.id.toUpperCase().replace(/.$/, 'G')])
    await expect(programWorlds.get(id)).rejects.toEqual(code('ERR_ARGUMENT'))
  await expect(programWorlds.open({ ranks: 2 ** 21, processes: 2 })).rejects.toEqual(code('ERR_LIMIT'))

  const alone = await programWorlds.open({ ranks: 4, processes: 1 })
  const sum = async (world: Communicator) => (await world.allreduce(Float64Array.of(world.rank), 'sum'))[0]
  const { results } = await join(sum, { url: joinUrl, token: alone.token, program: 'digest' })
  expect(results).toEqual([6, 6, 6, 6])
  let { ended } = alone as MountedWorldInfo
  while (ended === null) ended = (await programWorlds.get(alone.id)).ended
  expect(ended).toEqual({ lost: [], failed: null, closed: null })
  expect(started.lines.join('')).not.toContain(alone.token)
})
