import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildTopology } from '../../../../src/topology/files/topology-from-spec.js'
import { readMapping } from '../../../../src/topology/mapping/mapping-file.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json, onlyObject, typed } from '../run-cli.js'

const folder = ownFolder('map')
const spec = 'moore:8x8:r=2'
const onNodes = typed`map ${spec} --machine cluster:nodes=4,cores=16`

it('reports what every objective costs, before and after', async () => {
  const object = await json`${onNodes}`
  // Rows of two against tiles of 4 x 4, each of which has 48 neighbors on three other nodes.
  expect(object).toMatchObject({
    topology: spec,
    ranks: 64,
    objective: 'pairs',
    before: { pairs: 128, busiestNode: 32 },
    file: null,
  })
  const { before, after } = object as Record<string, Record<string, number>>
  expect(after['pairs']).toBeLessThanOrEqual(before['pairs'])
  const answer = await cli(...onNodes)
  expect(answer.stdout).toMatch(/objective\s+before\s+after[\s\S]*pairs \*\s+128/)
})

it('writes a mapping that reads back', async () => {
  const file = join(folder, 'moore.map')
  const answer = await cli`${onNodes} --objective edges -o ${file}`
  expect([answer.exitCode, answer.stderr]).toEqual([0, `wrote ${file}\n`])
  const slotOf = readMapping(readFileSync(file, 'utf8'), buildTopology(spec))
  expect(Int32Array.from(slotOf).sort()).toEqual(Int32Array.from({ length: 64 }, (_, v) => v))
})

it.each([
  ['openmpi', /^rank 0=\S+ slot=\d+\nrank 1=/],
  ['mpich', /^(node[0-3]:1\n){64}$/],
  ['slurm', /^(node[0-3]\n){64}$/],
])('writes places for %s, each node once for each of its cores', async (format, form) => {
  const list = join(folder, 'hosts')
  writeFileSync(list, [0, 1, 2, 3].map((node) => `node${node} slots=16\n`).join(''))
  const answer = await cli`map ${spec} --machine hosts:${list} --format ${format} -o -`
  expect(answer.exitCode).toBe(0)
  expect(answer.stdout).toMatch(form)
  const named = answer.stdout.match(/node\d/g)!.sort()
  expect(named).toEqual([0, 1, 2, 3].flatMap((node) => Array(16).fill(`node${node}`)))
})

it('takes names for the nodes of another machine', async () => {
  const list = join(folder, 'names')
  writeFileSync(list, 'd:1\nc:1\nb:1\na:1\n')
  const torus = typed`map ${spec} --machine torus:dims=2x2,cores=16 --objective hop-bytes`
  const answer = await cli`${torus} --hosts ${list} --format slurm -o -`
  expect(answer.exitCode).toBe(0)
  expect(answer.stdout.trim().split('\n').sort().join('')).toBe('abcd'.replace(/./g, '$&'.repeat(16)))
  const eight = typed`--machine cluster:nodes=8,cores=8 --format slurm -o -`
  const few = await cli`map ${spec} ${eight} --hosts ${list}`
  expect([few.exitCode, few.stderr]).toEqual([2, expect.stringContaining('expected 8 hosts')])
})

it('adds up several topologies of one program', async () => {
  const grids = ['stencil:8x8:offsets=0,1/0,-1', 'stencil:8x8:offsets=1,0/-1,0']
  const words = typed`map ${grids} --times 10,1 --machine cluster:nodes=16,cores=4 --objective edges`
  const { topology, before, after } = (await json`${words}`) as Record<string, never>
  expect(topology).toBe('10 x stencil:8x8:offsets=0,1/0,-1 + stencil:8x8:offsets=1,0/-1,0')
  // Half a row on each node: one edge of each row leaves it, and all 7 x 8 of the columns, both ways.
  expect(before).toMatchObject({ edges: 10 * 8 * 2 + 2 * 56 })
  expect(after['edges']).toBeLessThanOrEqual(before['edges'])
})

it('draws the matrix before and after', async () => {
  const file = join(folder, 'map.svg')
  await cli`${onNodes} --svg ${file}`
  expect(readFileSync(file, 'utf8')).toMatch(
    /^<svg [\s\S]*moore:8x8:r=2, by rank[\s\S]*moore:8x8:r=2, by slot/,
  )
})

describe('by simulated time', () => {
  const graph = 'powerlaw:32:d=4:gamma=2.3:seed=1'
  const machine = 'cluster:nodes=8,cores=4,profile=simgrid-fast'
  const byTime = typed`map ${graph} --machine ${machine} --objective simulated-time --bytes 512`

  it('reports microseconds before and after, and other commands simulate the same with its file', async () => {
    const file = join(folder, 'time.map')
    const words = typed`${byTime} --strategy routed`
    const answer = await cli`${words} -o ${file}`
    expect([answer.exitCode, answer.stderr]).toEqual([0, `wrote ${file}\n`])
    expect(answer.stdout).toMatch(/simulated-time \* +[\d.]+ us +[\d.]+ us +[\d.]+% less/)
    expect(answer.stdout).toMatch(/strategy +routed\n +profile +simgrid-fast/)
    const { simulated } = (await json`${words}`) as { simulated: Record<string, never> }
    const { before, after } = simulated
    expect(after['timeUs']).toBeLessThan(before['timeUs'])
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      ...{ objective: 'simulated-time', cost: after['timeUs'], identityCost: before['timeUs'] },
    })
    const simulation = typed`simulate ${graph} --machine ${machine} --bytes 512 --strategy routed`
    expect(await json`${simulation} --map ${file}`).toMatchObject({
      timeUs: expect.closeTo(after['timeUs'], 6),
    })
  })

  it('chooses a strategy by default', async () => {
    const words = typed`${byTime} --strategy auto:budget=1 --json`
    const { simulated } = onlyObject(await cli(...words)) as { simulated: Record<string, never> }
    const { before, after } = simulated
    expect(after['timeUs']).toBeLessThanOrEqual(before['timeUs'])
    expect(simulated).toMatchObject({ origin: 'simulated', bytesPerBlock: 512, remark: null })
  })

  const cluster = typed`--machine cluster:nodes=8,cores=4`
  it.each([
    ['no length of blocks', byTime.slice(0, -2), 'ERR_USAGE: --objective simulated-time: expected --bytes'],
    [
      'a length in auto',
      typed`${byTime} --strategy auto:bytes=8`,
      'expected the length of a block as --bytes',
    ],
    ['another strategy', typed`${byTime} --strategy fast`, 'ERR_STRATEGY'],
    ['a strategy of grids', typed`${byTime} --strategy cartesian`, 'a mapped grid is no grid'],
    ['a machine without a profile', ['map', graph, ...cluster, ...byTime.slice(4)], 'ERR_MACHINE'],
    ['more ranks than cores', ['map', 'er:64:d=0.1', ...byTime.slice(2)], 'ERR_MACHINE'],
    ['two topologies', ['map', graph, ...byTime.slice(1)], 'expected one topology, got 2'],
    [
      'a length for pairs',
      typed`map ${graph} ${cluster} --bytes 8`,
      '--bytes is for --objective simulated-time',
    ],
    ['a strategy for edges', typed`${onNodes} --objective edges --strategy direct`, '--strategy is for'],
  ])('refuses %s', async (_, words, message) => {
    const answer = await cli(...words)
    expect([answer.exitCode, answer.stderr]).toEqual([2, expect.stringContaining(message)])
  })
})

it.each([
  ['no machine', ['map', spec], '--machine'],
  ['more ranks than cores', typed`map ${spec} --machine cluster:nodes=2,cores=16`, '64'],
  ['another objective', typed`${onNodes} --objective hops`, '--objective: expected'],
  ['no names of hosts', typed`${onNodes} --format slurm -o x`, 'names of hosts'],
  ['an unknown format', typed`${onNodes} --format metis`, '--format: expected'],
  ['times for one topology', typed`${onNodes} --times 2`, '--times: expected several'],
  ['too few times', typed`map ${spec} ${spec} ${onNodes.slice(2)} --times 2`, '--times: expected 2 numbers'],
  ['times in hexadecimal', typed`map ${spec} ${spec} ${onNodes.slice(2)} --times 0x2,1`, '2 numbers'],
  ['a format without a file', typed`${onNodes} --format slurm`, '--format is for --output'],
  ['hosts without a file', typed`${onNodes} --hosts hosts`, '--hosts is for --output'],
  ['hosts for a mapping', typed`${onNodes} --hosts hosts -o x`, '--hosts is for --format openmpi'],
  ['one file for two outputs', typed`${onNodes} -o x --svg ./x`, 'expected different files'],
  ['times of 0', typed`map ${spec} ${spec} ${onNodes.slice(2)} --times 2,0`, '--times: expected 2 numbers'],
  ['a mapping file of two', typed`map ${spec} ${spec} ${onNodes.slice(2)} -o x`, 'of one topology'],
  ['topologies of several sizes', ['map', spec, 'er:8:d=0.5', ...onNodes.slice(2)], 'equally many ranks'],
  ['an empty topology', typed`map er:0:d=0.5 --machine cluster:nodes=4,cores=16`, 'at least 1'],
])('refuses %s', async (_, words, message) => {
  const before = readdirSync(folder)
  const answer = await cli(...words)
  expect([answer.exitCode, answer.stderr]).toEqual([2, expect.stringContaining(message)])
  expect(readdirSync(folder)).toEqual(before)
})

it.each(['-1', '1e308'])('refuses weights of %s by hop-bytes', async (weight) => {
  const file = join(folder, 'weights.csv')
  const edges = [0, 1, 2, 3].map((v) => `${v},${(v + 1) % 4},${weight}\n`)
  writeFileSync(file, `source,target,weight\n${edges.join('')}`)
  const answer = await cli`map csv:${file} --machine cluster:nodes=2,cores=2 --objective hop-bytes`
  expect([answer.exitCode, answer.stderr]).toEqual([2, expect.stringContaining('ERR_TOPOLOGY')])
  const pairs = await cli`map csv:${file} --machine cluster:nodes=2,cores=2`
  expect(pairs.exitCode, pairs.stderr).toBe(0)
})

it('one rank stays on its place', async () => {
  const object = await json`map er:1:d=0 --machine cluster:nodes=4,cores=16`
  expect(object).toMatchObject({ ranks: 1, before: { pairs: 0 }, after: { pairs: 0 } })
})
