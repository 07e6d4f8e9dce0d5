import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildTopology, relabelledTopology, topologyHash } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import type { AppliedMapping } from '../../../../src/neighborhood/choose/mapped-topology.js'
import { readScheduleFile } from '../../../../src/schedule/file/schedule-file.js'
import { isNeighborSchedule } from '../../../../src/schedule/ir.js'
import { readMapping } from '../../../../src/topology/mapping/mapping-file.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json, refused, typed } from '../run-cli.js'

const folder = ownFolder('map-option')
const path = (name: string) => join(folder, name)

/** Ranks of random places: neighbors are rarely on one node. */
const spec = 'rgg:32:r=0.3:seed=3'
const machine = typed`--machine cluster:nodes=4,cores=8,profile=simgrid-fast`
const direct = typed`--strategy direct ${machine}`

/** What `rankweave map` writes for a topology. */
async function mapFile(of = spec): Promise<string> {
  const file = path('graph.map')
  expect(await cli`map ${of} ${machine} -o ${file}`).toMatchObject({ exitCode: 0 })
  return file
}

const mappingOf = (object: Record<string, unknown>) => object['mapping'] as AppliedMapping

describe('plan --map', () => {
  it('plans the topology whose ranks are slots, and says what the mapping is worth', async () => {
    const file = path('mapped.jsonl')
    const object = await json`plan ${spec} ${direct} --map auto -o ${file}`
    const { before, after, ...mapping } = mappingOf(object)
    expect(after.pairs).toBeLessThan(before.pairs)
    expect(after.edges).toBeLessThan(before.edges)
    expect(mapping).toMatchObject({ map: 'auto', isMapped: true, simulated: null })
    expect(object).toMatchObject({ verified: true, messages: { interNode: after.edges } })
    const topology = buildTopology(spec)
    const slotOf = readMapping(readFileSync(await mapFile(), 'utf8'), topology)
    const planned = topologyHash(relabelledTopology(topology, slotOf))
    expect(mapping).toMatchObject({ topology: topologyHash(topology), planned })
    const schedule = await readScheduleFile(file)
    expect(isNeighborSchedule(schedule) && topologyHash(schedule.topology)).toBe(planned)
    const unmapped = await json`plan ${spec} ${direct}`
    expect(unmapped).toMatchObject({ messages: { interNode: before.edges } })
    expect(unmapped).not.toHaveProperty('mapping')
    const { stdout } = await cli`plan ${spec} ${direct} --map auto`
    expect(stdout).toMatch(/^ {2}mapping +auto, from .+: [\d,]+ pairs before, [\d,]+ after \(.+\)$/m)
  })

  it('takes the file that map writes for what auto computes, and a cache for both', async () => {
    const map = await mapFile()
    const files = [path('auto.jsonl'), path('file.jsonl')]
    const words = typed`plan ${spec} --k 2 ${machine} --cache ${path('cache')}`
    const auto = await json`${words} --map auto -o ${files[0]}`
    const file = await json`${words} --map ${map} -o ${files[1]}`
    const [first, second] = files.map((name) => readFileSync(name, 'utf8'))
    expect(first === second).toBe(true)
    expect(mappingOf(file)).toEqual({ ...mappingOf(auto), map, start: null })
    const { messages, mapping } = auto
    expect(await json`${words} --map auto`).toMatchObject({ messages, mapping, verified: true })
  })

  it('moves no rank where all are on one node', async () => {
    const words = typed`plan moore:4x4:r=1 --strategy cartesian --machine cluster:nodes=1,cores=16`
    const { isMapped, topology, planned } = mappingOf(await json`${words} --map auto`)
    expect([isMapped, planned]).toEqual([false, topology])
    expect((await cli`${words} --map auto`).stdout).toContain('identity: no rank moves, 0 pairs')
  })
})

describe('plan --map auto --strategy auto', () => {
  const auto = typed`--strategy auto:budget=1 --bytes 64 --map auto`

  it('maps where the chosen strategy takes less simulated time for it', async () => {
    const on = typed`--machine cluster:nodes=4,cores=6,profile=simgrid-fast`
    const object = await json`plan rgg:24:r=0.3:seed=2 ${on} ${auto}`
    const { simulated, isMapped } = mappingOf(object)
    expect(isMapped).toBe(true)
    expect(simulated!.mappedUs).toBeLessThan(simulated!.identityUs)
    const alternatives = object['alternatives'] as { readonly strategy: string; readonly timeUs: number }[]
    const chosen = alternatives.find(({ strategy }) => strategy === object['chosen'])
    expect(chosen!.timeUs).toBe(simulated!.mappedUs)
  })

  it('keeps ranks where that does not pay, and says so', async () => {
    // The hub takes all the time, whatever becomes of the ring.
    const edges = path('hub.txt')
    const hub = Array.from({ length: 31 }, (_, i) => `0 ${i + 1}\n`)
    writeFileSync(edges, [...hub, '9 17\n', '17 25\n'].join(''))
    const words = typed`plan edges:${edges} ${machine} ${auto}`
    const { simulated, isMapped, before, after, topology, planned } = mappingOf(await json`${words}`)
    expect(after.pairs).toBeLessThan(before.pairs)
    expect(simulated!.mappedUs).toBeGreaterThanOrEqual(simulated!.identityUs)
    expect([isMapped, planned]).toEqual([false, topology])
    const { stdout } = await cli`${words}`
    expect(stdout).toMatch(/^ {2}mapping .*not used, as it does not pay: simulated .* without, .* with it$/m)
  })
})

describe('simulate and export --map', () => {
  it('simulate sends the messages of the mapped ranks', async () => {
    const words = typed`simulate ${spec} ${direct} --bytes 64 --map`
    for (const map of ['auto', await mapFile()]) {
      const object = await json`${words} ${map}`
      expect(object).toMatchObject({ messages: { network: mappingOf(object).after.edges } })
    }
    expect((await cli`${words} auto`).stdout).toMatch(/^ {2}mapping +auto, from /m)
    // 8 processes are on the 8 cores of one node.
    const onOneNode = await json`${words} auto --processes 8`
    expect(mappingOf(onOneNode)).toMatchObject({ isMapped: false, before: { pairs: 0 } })
  })

  it('export writes the program of the mapped plan', async () => {
    const map = await mapFile()
    const [plan, ofPlan, ofSpec] = [path('m.jsonl'), path('p.goal'), path('s.goal')]
    const goal = typed`--format goal --bytes 8 -o`
    await cli`plan ${spec} ${direct} --map ${map} -o ${plan}`
    await cli`export ${plan} ${goal} ${ofPlan}`
    const object = await json`export ${spec} ${direct} --map ${map} ${goal} ${ofSpec}`
    expect(readFileSync(ofSpec, 'utf8') === readFileSync(ofPlan, 'utf8')).toBe(true)
    expect(mappingOf(object)).toMatchObject({ map, isMapped: true })
  })
})

describe('--map refuses', () => {
  const saved = (name: string, text: string): string => {
    writeFileSync(path(name), text)
    return path(name)
  }

  it.each([
    ['a file that is not there', () => path('none.map'), 'ERR_FILE'],
    ['no name', () => '', 'ERR_FILE'],
    ['a file that is no JSON', () => saved('no.map', 'moore'), 'ERR_MAPPING'],
    ['a plan', () => saved('plan.map', '{"format":"rankweave-schedule"}'), 'ERR_MAPPING'],
    ['the mapping of another graph', () => mapFile('rgg:32:r=0.3:seed=4'), 'ERR_MAPPING'],
    ['the mapping of a smaller graph', () => mapFile('moore:4x4:r=1'), 'ERR_MAPPING'],
  ])('%s, and nothing is written', async (_, make, code) => {
    const map = await make()
    const before = readdirSync(folder).sort()
    const output = path('output')
    for (const words of [
      typed`plan ${spec} ${direct} -o ${output}`,
      typed`simulate ${spec} ${direct} --bytes 8 --svg ${output}`,
      typed`export ${spec} ${direct} --format c -o ${output}`,
      typed`study ${spec} ${machine} -o ${output}.md`,
    ])
      expect(await json`${words} --map ${map}`).toMatchObject({ error: { code } })
    expect(readdirSync(folder).sort()).toEqual(before)
  })

  it.each([
    ['a plan without a machine', typed`plan ${spec}`, ': expected --machine'],
    ['an export without a machine', typed`export ${spec} --format c -o x.c`, ': expected --machine'],
    ['an algorithm', typed`simulate allgather-ring ${machine} --bytes 8`, ' is for topologies'],
    ['a schedule file', typed`export plan.jsonl --format c -o -`, ' is for topologies'],
  ])('%s', async (_, words, message) => {
    expect(await cli`${words} --map auto`).toMatchObject(refused(`--map${message}`))
  })

  it('a file with --server, before anything is sent', async () => {
    const answer = await cli`plan ${spec} ${machine} --map ${await mapFile()} --server http://127.0.0.1:1`
    expect(answer).toMatchObject(refused('--map: expected auto with --server'))
  })
})
