import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { StudiedMapping } from '../../../../src/study/study.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { elementsOf } from '../../../support/well-formed-xml.js'
import { cli, json, refused, typed } from '../run-cli.js'

const folder = ownFolder('study')
const machine = typed`--machine cluster:nodes=4,cores=4,profile=simgrid-fast`
const few = typed`--bytes 4,4096 --strategies cartesian:windows=3/3,order=1.0`

describe('study', () => {
  it('writes Markdown, and reports the fastest strategy of each length', async () => {
    const file = join(folder, 'README.md')
    const answer = await cli`study moore:4x4:r=1 ${machine} ${few} -o ${file}`
    expect(answer).toMatchObject({ exitCode: 0, stderr: `wrote ${file}\n` })
    for (const shown of [
      /^A neighbor allgather, .*\nmoore:4x4:r=1 on cluster.*2 strategies\n/,
      'profile simgrid-fast (costs given: settings of our runs in SimGrid 3.32, 2026-11-22; levels.process, memory.reduceNsPerByte and hop assumed); choosing and planning are measured',
      /fastest of those studied +simulated .* breaks even after +in an MPI program\n/,
      / us +[\d.]+ +[\d.]+ +(?:never|[\d,]+ calls?) +(?:no|as MPI does|by a plan file)\n/,
      /within 5% of the fastest compared in \d+ of 12 cases/,
      /\nSimulated on cluster:.* direct sends.*\.\n$/,
    ])
      expect(answer.stdout).toMatch(shown)
    const page = readFileSync(file, 'utf8')
    expect(page).toMatch(/^\| direct +\| +128 \| +8 \|/m)
    expect(page).toContain(
      'what the profile simgrid-fast (costs given: settings of our runs in SimGrid 3.32, 2026-11-22; levels.process, memory.reduceNsPerByte and hop assumed) says.',
    )
    expect(page).toContain('(SIMULATED: on cluster:nodes=4,cores=4,profile=simgrid-fast')
  })

  it('writes a folder of pages, pictures and the object, measured on a fabric too', async () => {
    const output = join(folder, 'both', 'deep')
    const answer = await cli`study moore:4x4:r=1 ${machine} ${few} --fabric local --runs 1 -o ${output}`
    expect(answer).toMatchObject({ exitCode: 0, stderr: `wrote ${output}\n` })
    const names = ['measured-time.svg', 'messages.svg', 'simulated-time.svg']
    expect(readdirSync(output).sort()).toEqual(['README.md', ...names, 'study.html', 'study.json'])
    const [page, html] = ['README.md', 'study.html'].map((name) => readFileSync(join(output, name), 'utf8'))
    for (const name of names) {
      elementsOf(readFileSync(join(output, name), 'utf8'))
      expect(page).toContain(`](${name})`)
    }
    expect(html).toMatch(/^<!DOCTYPE html>/)
    expect(elementsOf(html).filter((name) => name === 'svg')).toHaveLength(3)
    const { measurements } = JSON.parse(readFileSync(join(output, 'study.json'), 'utf8'))
    expect(measurements).toMatchObject({
      ...{ fabric: 'local', processes: 1, runs: 1, bytes: [4, 4096], tooLong: [] },
    })
    for (const { times } of measurements.strategies)
      for (const { medianUs } of times) expect(medianUs).toBeGreaterThan(0)
  })

  it('of a matrix is for as many ranks as the machine has cores', async () => {
    const words = typed`study test/matrices/ash292.mtx ${machine} --bytes 8 --strategies direct`
    const object = await json`${words}`
    expect(object).toMatchObject({ bytes: [8], measurements: null, leftOut: [] })
    // 292 columns: at most 19 rows of B on a rank.
    const product = { rows: 19, columns: 8, bytes: 19 * 8 * 8 }
    const topology = 'mtx:test/matrices/ash292.mtx:ranks=16'
    expect(object['subject']).toMatchObject({ ranks: 16, topology, product })
    const { stdout } = await cli`${words} -o ${folder}/matrix.md`
    expect(stdout).toContain('8 columns of doubles make blocks of up to 1,216 bytes\n')
  })

  it.each([
    ['moore:4x4:r=1', [], 'ERR_USAGE'],
    ['moore:4x4:r=1', typed`--machine cluster:nodes=4,cores=4`, 'ERR_MACHINE'],
    ['moore:4x4:r=1', typed`--machine nebula`, 'ERR_MACHINE'],
    ['moore:5x5:r=1', machine, 'ERR_MACHINE'],
    ['er:8:d=0:seed=1', machine, 'ERR_TOPOLOGY'],
    ['er:1:d=0.5:seed=1', machine, 'ERR_TOPOLOGY'],
    ['moore:4x4:r=1', typed`${machine} --bytes 4,x`, 'ERR_USAGE'],
    ['moore:4x4:r=1', typed`${machine} --strategies fast`, 'ERR_STRATEGY'],
    ['nowhere:4', machine, 'ERR_SPEC'],
    [[], machine, 'ERR_USAGE'],
    ['moore:4x4:r=1', typed`${machine} --fabric smoke`, 'ERR_USAGE'],
    ['moore:4x4:r=1', typed`${machine} -o /dev/null/x`, 'ERR_FILE'],
    ['nowhere.mtx', machine, 'ERR_FILE'],
  ])('%s %j: %s', async (subject, options, code) => {
    expect(await json`study ${subject} ${options}`).toMatchObject({ error: { code } })
  })

  const lengths = (count: number) => Array.from({ length: count }, (_, i) => i).join()
  it.each([
    ['of 33 lengths', '--bytes', lengths(33), 'ERR_USAGE: --bytes: expected at most 32 '],
    ['of many lengths', '--bytes', lengths(99_999), 'ERR_USAGE: --bytes: expected at'],
    ['of a million digits', '--bytes', '9'.repeat(1e6), 'ERR_USAGE: --bytes: expected at most 32 '],
    ['of no time', '--plan-seconds', '0', 'ERR_USAGE: --plan-seconds: expected seconds above 0, got 0'],
    ['of runs without a fabric', '--runs', '7', 'ERR_USAGE: --runs is for --fabric'],
    ['of processes without a fabric', '--processes', '2', 'ERR_USAGE: --processes is for --fabric'],
    [
      'of more radices than ranks have digits',
      '--strategies',
      `routed:radices=${'2.'.repeat(99_999)}2`,
      'ERR_STRATEGY: routed: expected at most 24 radices, got 100000',
    ],
  ])('%s is refused by the name of the option, in few words', async (_, option, value, message) => {
    const answer = await cli`study moore:4x4:r=1 ${machine} ${option} ${value}`
    expect(answer).toMatchObject(refused(message))
    expect(answer.stderr.length).toBeLessThan(500)
  })
})

describe('study of a recorded graph', () => {
  const graph = join(folder, 'graph.txt')
  const edges = Array.from({ length: 16 }, (_, rank) =>
    [1, 4, 12, 15].map((offset) => `${rank} ${(rank + offset) % 16} 9\n`).join(''),
  )
  const head =
    '# who sends to whom: the weight of an edge is its bytes\n# 9 messages, 24 to 512 bytes each on average of an edge\n'
  writeFileSync(graph, `${head}ranks 16\n${edges.join('')}`)

  it('is of what the program exchanges, and marks the lengths of its messages', async () => {
    const words = typed`study edges:${graph} ${machine} --strategies routed lanes`
    const { stdout, exitCode } = await cli`${words}`
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^A neighbor alltoall, which sends other data to every neighbor/)
    for (const bytes of [24, 512]) expect(stdout).toMatch(new RegExp(`^ +${bytes}, recorded `, 'm'))
    expect(stdout).toMatch(/^ +4,096 .* (?:no|as MPI does)$/m)
    expect(stdout).not.toContain('allgather / this')
    const { subject, ordinaryAllgather } = await json`${words} --bytes 24,64`
    expect(subject).toMatchObject({ operation: 'neighbor-alltoall', recordedBytes: [24] })
    expect(ordinaryAllgather).toBeNull()
    const other = await json`${words} --operation neighbor-allgather --bytes 24`
    expect(other['subject']).toMatchObject({ operation: 'neighbor-allgather', recordedBytes: [] })
    const measured = await cli`${words} --fabric local`
    expect(measured).toMatchObject(refused('--fabric is for --operation neighbor-allgather'))
  })

  it('has its operation and lengths in plan and simulate, too', async () => {
    const auto = typed`edges:${graph} ${machine} --strategy auto:budget=1`
    const planned = await json`plan ${auto}`
    expect(planned).toMatchObject({ operation: 'neighbor-alltoall', bytesPerBlock: 512 })
    expect((await cli`plan ${auto}`).stdout).toMatch(/^edges:\S+: neighbor-alltoall by /)
    const simulated = typed`simulate edges:${graph} ${machine} --strategy direct`
    expect(await json`${simulated}`).toMatchObject({
      ...{ collective: 'neighbor-alltoall', bytesPerContribution: 512 },
    })
    expect(await json`${simulated} --operation neighbor-reduce --bytes 8`).toMatchObject({
      ...{ collective: 'neighbor-reduce', bytesPerContribution: 8 },
    })
  })

  it('on one node says that shared memory is not simulated', async () => {
    const oneNode = typed`--machine cluster:nodes=1,cores=16,profile=simgrid-fast --strategies routed`
    const { stdout } = await cli`study edges:${graph} ${oneNode}`
    expect(stdout).toContain('exchanges through shared memory, which is not simulated')
  })

  it('names an example and the profiles without a machine', async () => {
    expect(await cli`study edges:${graph}`).toMatchObject(
      refused('such as --machine cluster:nodes=4,cores=16,profile=simgrid-fast; profiles: '),
    )
  })
})

describe('study --map', () => {
  /** Ranks of random places: neighbors are rarely on one node. */
  const spec = 'rgg:16:r=0.4:seed=3'
  const words = typed`study ${spec} ${machine} --bytes 64,4096 --strategies routed --map`

  it('has four columns: neither, mapping only, combining only, both; measured on a fabric, too', async () => {
    const object = await json`${words} auto --fabric local --runs 1`
    const { mapped, strategies, measurements } = object as unknown as {
      readonly mapped: StudiedMapping
      readonly strategies: readonly { readonly messages: { readonly betweenNodes: number } }[]
      readonly measurements: object
    }
    const { before, after, isMapped } = mapped.mapping
    expect(isMapped).toBe(true)
    expect(mapped.ways.map(({ bytes }) => bytes)).toEqual([64, 4096])
    for (const { neither, mapping, combining, both } of mapped.ways) {
      expect([neither.betweenNodes, mapping.betweenNodes]).toEqual([before.edges, after.edges])
      expect([neither.strategy, mapping.strategy]).toEqual(['direct', 'direct'])
      // Sums of copies round differently where a choice is simulated.
      expect(combining.timeUs).toBeLessThanOrEqual(neither.timeUs * (1 + 1e-9))
      expect(both.timeUs).toBeLessThanOrEqual(mapping.timeUs * (1 + 1e-9))
    }
    expect(strategies[0].messages.betweenNodes).toBe(after.edges)
    expect(measurements).toMatchObject({ strategies: [{ strategy: 'direct' }, {}] })
  })

  it('says where no rank moves, and then has equal columns', async () => {
    const oneNode = typed`--machine cluster:nodes=1,cores=16,profile=simgrid-fast --bytes 64`
    const { stdout } = await cli`study moore:4x4:r=1 ${oneNode} --map auto -o -`
    expect(stdout).toContain('The mapping is auto, from identity: it moves no rank.')
    expect(stdout).not.toContain('Ranks were mapped')
    const [, ...columns] = /^\| 64 B +\| +([\d.]+) \| +([\d.]+) \| +([\d.]+) \| +([\d.]+) \|$/m.exec(stdout)!
    expect([columns[0], columns[2]]).toEqual([columns[1], columns[3]])
  })

  it('writes the columns of a mapping file in pages, and in short', async () => {
    const [map, output] = [join(folder, 'graph.map'), join(folder, 'mapped')]
    await cli`map ${spec} ${machine} -o ${map}`
    const { stdout } = await cli`${words} ${map} -o ${output}`
    expect(stdout).toMatch(/^ {2}bytes +neither +mapping only +combining only +both$/m)
    const head = /^\| block +\| +neither +\| +mapping only +\| +combining only +\| +both +\|$/gm
    expect(readFileSync(join(output, 'README.md'), 'utf8').match(head)).toHaveLength(4)
    expect(readFileSync(join(output, 'study.html'), 'utf8')).toContain('Mapping and combining')
  })
})
