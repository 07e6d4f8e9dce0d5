import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packedMapping } from '../../../../src/shim/packed-files.js'
import { buildTopology } from '../../../../src/topology/files/topology-from-spec.js'
import { readMapping } from '../../../../src/topology/mapping/mapping-file.js'
import { edgesDigest } from '../../../../src/topology/topology-hash.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json, refused, typed } from '../run-cli.js'

const folder = ownFolder('map')
const spec = 'moore:8x8:r=2'
const cluster = typed`--machine cluster:nodes=4,cores=16`
const onNodes = typed`map ${spec} ${cluster}`
type Costs = Record<'before' | 'after', Record<string, number>>

describe('map', () => {
  it('reports what every objective costs, before and after', async () => {
    const object = await json`${onNodes}`
    // Rows of two against tiles of 4 x 4, each of which has 48 neighbors on three other nodes.
    expect(object).toMatchObject({
      ...{ topology: spec, ranks: 64, objective: 'pairs', file: null },
      before: { pairs: 128, busiestNode: 32 },
    })
    const { before, after } = object as unknown as Costs
    expect(after['pairs']).toBeLessThanOrEqual(before['pairs'])
    expect((await cli`${onNodes}`).stdout).toMatch(/objective\s+before\s+after[\s\S]*pairs \*\s+128/)
  })

  it('writes a mapping that reads back, and draws the matrix before and after', async () => {
    const [file, svg] = [join(folder, 'moore.map'), join(folder, 'map.svg')]
    const answer = await cli`${onNodes} --objective edges -o ${file} --svg ${svg}`
    expect([answer.exitCode, answer.stderr]).toEqual([0, expect.stringContaining(`wrote ${file}\n`)])
    const slotOf = readMapping(readFileSync(file, 'utf8'), buildTopology(spec))
    expect(Int32Array.from(slotOf).sort()).toEqual(Int32Array.from({ length: 64 }, (_, v) => v))
    const packed = packedMapping(edgesDigest(buildTopology(spec)), slotOf)
    expect(new Uint8Array(readFileSync(`${file}.packed`))).toEqual(packed)
    expect(readFileSync(svg, 'utf8')).toMatch(/^<svg [\s\S]*moore:8x8:r=2, by rank[\s\S]*, by slot/)
  })

  it.each([
    ['openmpi', /^rank 0=\S+ slot=\d+\nrank 1=/],
    ['mpich', /^(node[0-3]:1\n){64}$/],
    ['slurm', /^(node[0-3]\n){64}$/],
  ])('writes places for %s, each node once for each of its cores', async (format, form) => {
    const list = join(folder, 'hosts')
    writeFileSync(list, [0, 1, 2, 3].map((node) => `node${node} slots=16\n`).join(''))
    const { stdout } = await cli`map ${spec} --machine hosts:${list} --format ${format} -o -`
    expect(stdout).toMatch(form)
    const named = stdout.match(/node\d/g)!.sort()
    expect(named).toEqual([0, 1, 2, 3].flatMap((node) => Array(16).fill(`node${node}`)))
  })

  it('takes names for the nodes of another machine', async () => {
    const list = join(folder, 'names')
    writeFileSync(list, 'd:1\nc:1\nb:1\na:1\n')
    const places = typed`--hosts ${list} --format slurm -o -`
    const torus = await cli`map ${spec} --machine torus:dims=2x2,cores=16 --objective hop-bytes ${places}`
    expect(torus.stdout.trim().split('\n').sort().join('')).toBe('abcd'.replace(/./g, '$&'.repeat(16)))
    const few = await cli`map ${spec} --machine cluster:nodes=8,cores=8 ${places}`
    expect(few).toMatchObject(refused('expected 8 hosts'))
  })

  it('adds up several topologies of one program', async () => {
    const grids = ['stencil:8x8:offsets=0,1/0,-1', 'stencil:8x8:offsets=1,0/-1,0']
    const machine = typed`--machine cluster:nodes=16,cores=4 --objective edges`
    const object = await json`map ${grids} --times 10,1 ${machine}`
    expect(object['topology']).toBe('10 x stencil:8x8:offsets=0,1/0,-1 + stencil:8x8:offsets=1,0/-1,0')
    const { before, after } = object as unknown as Costs
    // Half a row on each node: one edge of each row leaves it, and all 7 x 8 of the columns, both ways.
    expect(before).toMatchObject({ edges: 10 * 8 * 2 + 2 * 56 })
    expect(after['edges']).toBeLessThanOrEqual(before['edges'])
  })

  it('leaves one rank on its place', async () => {
    const object = await json`map er:1:d=0 ${cluster}`
    expect(object).toMatchObject({ ranks: 1, before: { pairs: 0 }, after: { pairs: 0 } })
  })

  it.each(['-1', '1e308'])('refuses weights of %s by hop-bytes', async (weight) => {
    const file = join(folder, 'weights.csv')
    const edges = [0, 1, 2, 3].map((v) => `${v},${(v + 1) % 4},${weight}\n`)
    writeFileSync(file, `source,target,weight\n${edges.join('')}`)
    const words = typed`map csv:${file} --machine cluster:nodes=2,cores=2`
    expect(await cli`${words} --objective hop-bytes`).toMatchObject(refused('ERR_TOPOLOGY'))
    expect(await cli`${words}`).toMatchObject({ exitCode: 0 })
  })
})

describe('map by simulated time', () => {
  const graph = 'powerlaw:32:d=4:gamma=2.3:seed=1'
  const machine = typed`--machine cluster:nodes=8,cores=4,profile=simgrid-fast`
  const byTime = typed`map ${graph} ${machine} --objective simulated-time --bytes 512`

  it('reports microseconds before and after, and other commands simulate the same with its file', async () => {
    const file = join(folder, 'time.map')
    const words = typed`${byTime} --strategy routed`
    const answer = await cli`${words} -o ${file}`
    expect([answer.exitCode, answer.stderr]).toEqual([0, `wrote ${file}\n`])
    expect(answer.stdout).toMatch(/simulated-time \* +[\d.]+ us +[\d.]+ us +[\d.]+% less/)
    expect(answer.stdout).toMatch(/strategy +routed\n +profile +simgrid-fast/)
    const { before, after } = (await json`${words}`)['simulated'] as Costs
    expect(after['timeUs']).toBeLessThan(before['timeUs'])
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      ...{ objective: 'simulated-time', cost: after['timeUs'], identityCost: before['timeUs'] },
    })
    const simulated = await json`simulate ${graph} ${machine} --bytes 512 --strategy routed --map ${file}`
    expect(simulated).toMatchObject({ timeUs: expect.closeTo(after['timeUs'], 6) })
  })

  it('chooses a strategy by default', async () => {
    const { simulated } = await json`${byTime} --strategy auto:budget=1`
    const { before, after } = simulated as Costs
    expect(after['timeUs']).toBeLessThanOrEqual(before['timeUs'])
    expect(simulated).toMatchObject({ origin: 'simulated', bytesPerBlock: 512, remark: null })
  })

  const plain = typed`--machine cluster:nodes=8,cores=4 --objective simulated-time`
  it.each([
    ['no length of blocks', byTime.slice(0, -2), 'ERR_USAGE: --objective simulated-time: expected --bytes'],
    [
      'a length in auto',
      typed`${byTime} --strategy auto:bytes=8`,
      'expected the length of a block as --bytes',
    ],
    ['another strategy', typed`${byTime} --strategy fast`, 'ERR_STRATEGY'],
    ['a strategy of grids', typed`${byTime} --strategy cartesian`, 'a mapped grid is no grid'],
    ['a machine without a profile', typed`map ${graph} ${plain} --bytes 512`, 'ERR_MACHINE'],
    ['more ranks than cores', typed`map er:64:d=0.1 ${byTime.slice(2)}`, 'ERR_MACHINE'],
    ['two topologies', typed`map ${graph} ${byTime.slice(1)}`, 'expected one topology, got 2'],
    ['a length for pairs', typed`${onNodes} --bytes 8`, '--bytes is for --objective simulated-time'],
    ['a strategy for edges', typed`${onNodes} --objective edges --strategy direct`, '--strategy is for'],
  ])('refuses %s', async (_, words, message) => {
    expect(await cli`${words}`).toMatchObject(refused(message))
  })
})

it.each([
  ['no machine', typed`map ${spec}`, '--machine'],
  ['more ranks than cores', typed`map ${spec} --machine cluster:nodes=2,cores=16`, '64'],
  ['another objective', typed`${onNodes} --objective hops`, '--objective: expected'],
  ['no names of hosts', typed`${onNodes} --format slurm -o x`, 'names of hosts'],
  ['an unknown format', typed`${onNodes} --format metis`, '--format: expected'],
  ['times for one topology', typed`${onNodes} --times 2`, '--times: expected several'],
  ['too few times', typed`map ${spec} ${spec} ${cluster} --times 2`, '--times: expected 2 numbers'],
  ['times in hexadecimal', typed`map ${spec} ${spec} ${cluster} --times 0x2,1`, '2 numbers'],
  ['times of 0', typed`map ${spec} ${spec} ${cluster} --times 2,0`, '--times: expected 2 numbers'],
  ['a format without a file', typed`${onNodes} --format slurm`, '--format is for --output'],
  ['hosts without a file', typed`${onNodes} --hosts hosts`, '--hosts is for --output'],
  ['hosts for a mapping', typed`${onNodes} --hosts hosts -o x`, '--hosts is for --format openmpi'],
  ['one file for two outputs', typed`${onNodes} -o x --svg ./x`, 'expected different files'],
  ['a mapping file of two', typed`map ${spec} ${spec} ${cluster} -o x`, 'of one topology'],
  ['topologies of several sizes', typed`map ${spec} er:8:d=0.5 ${cluster}`, 'equally many ranks'],
  ['an empty topology', typed`map er:0:d=0.5 ${cluster}`, 'at least 1'],
])('map refuses %s', async (_, words, message) => {
  const before = readdirSync(folder)
  expect(await cli`${words}`).toMatchObject(refused(message))
  expect(readdirSync(folder)).toEqual(before)
})
