import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { SimulatedSearches } from '../../../../src/cost/simulate/queue-searches.js'
import { simgridFast } from '../../../../src/machine/built-in-profiles.js'
import { formatProfile } from '../../../../src/machine/profile-file.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json, onlyObject, refused, typed } from '../run-cli.js'

/** Of a simulation. */
interface Reported {
  readonly timeUs: number
  readonly matching: SimulatedSearches
}

const folder = ownFolder('cli')

const machine = typed`--machine cluster:nodes=4,cores=4,profile=simgrid-fast`

describe('simulate', () => {
  it('reports times, messages and bytes per level, and the critical path', async () => {
    const answer = await cli`simulate allgather-ring ${machine} --bytes 4 --json`
    expect(answer).toMatchObject({ exitCode: 0, stderr: '' })
    const { timeUs, criticalPath, ...rest } = onlyObject(answer)
    expect(rest).toEqual({
      ...{
        origin: 'simulated',
        profile:
          'simgrid-fast (costs given: settings of our runs in SimGrid 3.32, 2026-11-22; levels.process, memory.reduceNsPerByte and hop assumed)',
        remark: null,
      },
      ...{ source: 'allgather-ring', collective: 'allgather', strategy: 'allgather-ring' },
      ...{ parameters: { root: 0, segments: 1 }, ranks: 16, processes: 16 },
      ...{ machine: 'cluster:nodes=4,cores=4,profile=simgrid-fast', bytesPerContribution: 4 },
      ...{ progress: 'dependencies', waitUs: { mean: expect.any(Number), max: expect.any(Number) } },
      messages: { process: 0, package: 180, node: 0, network: 60 },
      bytes: { process: 0, package: 720, node: 0, network: 240 },
      pathSteps: (criticalPath as unknown[]).length,
    })
    // 15 messages, some of them between nodes.
    expect(timeUs).toBeGreaterThan(15 * 0.75)
    expect(timeUs).toBeLessThan(15 * 1.4)
    expect((criticalPath as { endUs: number }[]).at(-1)!.endUs).toBe(timeUs)
    const text = await cli`simulate allgather-ring ${machine} --bytes 4`
    expect(text.stdout).toMatch(/^ {2}simulated time +[\d.]+ us$/m)
    expect(text.stdout).toMatch(/^ {2}profile +simgrid-\w+ \(costs given/m)
    expect(text.stdout).toMatch(/^ {2}between nodes +60 messages, 240 bytes$/m)
  })

  it('reports searches of matching queues where the profile has their cost', async () => {
    const file = join(folder, 'slow.json')
    writeFileSync(file, formatProfile({ ...simgridFast, name: 'slow', matchNsPerEntry: 4.5 }))
    const words = typed`gather-linear --machine cluster:nodes=8,cores=1,profile=${file} --bytes 8`
    const { matching, timeUs } = (await json`simulate ${words}`) as unknown as Reported
    expect(matching.searches).toBe(14)
    expect(matching.searchUs).toBeCloseTo((matching.entriesPassed * 4.5) / 1000, 9)
    expect(matching.mostSearchUs).toBe(matching.searchUs)
    const fast = words.with(2, 'cluster:nodes=8,cores=1,profile=simgrid-fast')
    const without = (await json`simulate ${fast}`) as unknown as Reported
    expect(without).not.toHaveProperty('matching')
    expect(timeUs).toBeGreaterThan(without.timeUs)
    const text = await cli`simulate ${words}`
    expect(text.stdout).toMatch(
      /^ {2}matching +\d+ entries passed in 14 searches, [\d.]+ us in all, at most/m,
    )
    expect((await cli`simulate ${fast}`).stdout).not.toContain('matching')
  })

  it('takes parameters in the text of an algorithm, and cuts segments by --bytes', async () => {
    const simulated = async (...argv: string[]) => {
      const answer = await cli`simulate ${argv} ${machine} --bytes 65536 --json`
      const { strategy, parameters, timeUs } = onlyObject(answer)
      return { strategy, parameters, timeUs }
    }
    const given = await simulated('bcast-chain:segments=16,fanout=4', '--root', '3')
    expect(given).toMatchObject({
      strategy: 'bcast-chain:fanout=4',
      parameters: { root: 3, segments: 16, fanout: 4 },
    })
    expect(await simulated('bcast-chain:fanout=4', '--segments', '16', '--root', '3')).toEqual(given)
    expect(await simulated('bcast-chain:fanout=4,segment=4KiB', '--root', '3')).toEqual(given)
    expect(await cli`simulate bcast-chain:fanout=65 ${machine} --bytes 4`).toMatchObject(
      refused('ERR_ARGUMENT'),
    )
  })

  it('takes schedule files and topologies, with one result', async () => {
    const file = join(folder, 'plan.jsonl')
    const options = typed`--k 2 ${machine}`
    await cli`plan moore:4x4:r=1 ${options} -o ${file}`
    const planned = await json`simulate ${file} ${machine} --bytes 64`
    const direct = await json`simulate moore:4x4:r=1 ${options} --bytes 64`
    expect({ ...direct, source: file }).toEqual(planned)
  })

  it('hosts ranks on fewer processes: messages inside them cost nothing', async () => {
    const words = typed`simulate allgather-bruck --ranks 64 ${machine} --bytes 8`
    const messages = { package: 12, network: 0 }
    expect(await json`${words} --processes 2`).toMatchObject({ processes: 2, messages })
    expect(await cli`${words}`).toMatchObject(refused('ERR_MACHINE'))
  })

  it('writes the timeline as a picture and as trace events', async () => {
    const [svg, trace] = [join(folder, 'timeline.svg'), join(folder, 'trace.json')]
    const files = typed`--svg ${svg} --trace ${trace}`
    const { exitCode, stderr } = await cli`simulate bcast-binomial ${machine} --bytes 99 ${files}`
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: `wrote ${svg}\nwrote ${trace}\n` })
    expect(readFileSync(svg, 'utf8')).toMatch(/^<svg .*<\/svg>\n$/s)
    const { traceEvents } = JSON.parse(readFileSync(trace, 'utf8')) as { traceEvents: { ph: string }[] }
    expect(traceEvents.filter(({ ph }) => ph === 'f')).toHaveLength(15)
    const beside = await cli`simulate bcast-binomial ${machine} --bytes 99 --svg -`
    expect(beside.stdout).toMatch(/^<svg .*<\/svg>\n$/s)
    expect(beside.stderr).toContain('simulated time')
  })

  it('writes the load of links as a picture, with rows and fields that say the most', async () => {
    const links = join(folder, 'links.svg')
    const torus = typed`--machine torus:dims=4x4,profile=bluegene-p --bytes 100 --links-svg`
    const { exitCode, stderr, stdout } = await cli`simulate allgather-ring ${torus} ${links}`
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: `wrote ${links}\n` })
    expect(readFileSync(links, 'utf8')).toMatch(/^<svg .*router 0 -&gt; router 1: 1,500 bytes.*<\/svg>\n$/s)
    const nodes = 'at most 1,500 bytes, node 0 -> network; mean 1,500 bytes of 32 links in use, of 32'
    expect(stdout).toContain(`  links of nodes  ${nodes}\n`)
    expect(stdout).toContain('  other links     at most 1,500 bytes, router 0 -> router 1; mean')
    const object = await json`simulate allgather-ring ${torus} ${links}`
    expect(object['links']).toMatchObject({
      nodes: { links: 32, used: 32, mostBytes: 1500, mostLoaded: { link: 0, name: 'node 0 -> network' } },
      interior: { links: 64, mostBytes: 1500 },
    })
    const one = typed`--machine cluster:nodes=4,cores=1,profile=simgrid-fast --bytes 0`
    const beside = await cli`simulate allgather-ring ${one} --links-svg -`
    expect(beside.stdout).toMatch(/^<svg .*<\/svg>\n$/s)
    expect(beside.stderr).toContain('no bytes on 8 links')
    const two = await cli`simulate allgather-ring ${one} --links-svg - --svg -`
    expect(two.stderr).toContain('expected one output on standard output, got two')
  })

  it('sends no more messages of a node at once than its machine has ports', async () => {
    const words = typed`scatter-linear --bytes 100000 --json --machine`
    const [free, one, many] = await Promise.all(
      ['', ',ports=1', ',ports=100'].map(async (ports) =>
        onlyObject(await cli`simulate ${words} torus:dims=3x3,profile=bluegene-p${ports}`),
      ),
    )
    expect(many).toEqual({ ...free, machine: 'torus:dims=3x3,cores=1,ports=100,profile=bluegene-p' })
    expect(one['timeUs']).toBeGreaterThan(1.5 * Number(free['timeUs']))
  })

  it.each([
    ['allgather-ring', '--k 4', 'topologies, not for algorithms'],
    typed`allgather-ring --no-dedupe ${'topologies, not for algorithms'}`,
    ['allgather-ring', '--root 0', 'bcast, scatter, gather, reduce, not for allgather'],
    ['moore:4x4:r=1', '--ranks 8', 'algorithms, not for topologies'],
    ['no-such-file.jsonl', '--segments 2', 'algorithms, not for schedule files'],
    ['no-such-file.jsonl', '--engine greedy', 'topologies, not for schedule files'],
  ])('%s %s is refused, for it would have no effect', async (source, text, reason) => {
    const option = text.split(' ')
    const answer = await cli`simulate ${source} ${option} ${machine} --bytes 8`
    const stderr = expect.stringContaining(`ERR_USAGE: ${option[0]} is for ${reason}`)
    expect(answer).toMatchObject({ exitCode: 2, stderr })
  })

  it('--strategy auto simulates the strategy that plan chooses', async () => {
    const asked = typed`moore:4x4:r=1 --strategy auto ${machine} --bytes 8 --json`
    const [simulated, planned] = await Promise.all([cli`simulate ${asked}`, cli`plan ${asked}`])
    expect(simulated).toMatchObject({ exitCode: 0, stderr: '' })
    const { strategy, parameters } = JSON.parse(planned.stdout)
    expect(JSON.parse(simulated.stdout)).toMatchObject({ strategy, parameters })
  })

  it('a misspelled strategy is refused with all words that are expected', async () => {
    const { stderr } = await cli`simulate moore:4x4:r=1 --strategy auot ${machine} --bytes 8`
    expect(stderr).toMatch(/^ERR_STRATEGY: strategy: expected auto, direct, .* or \S+, got 'auot'/)
  })
})
