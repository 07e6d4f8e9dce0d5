import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatMachine, formatProfile } from 'rankweave/machine'
import { beforeAll, describe, expect, it } from 'vitest'
import { readMachine } from '../../../../src/cli/input/machine-input.js'
import { simgridFast } from '../../../../src/machine/built-in-profiles.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json, onlyObject, refused, typed } from '../run-cli.js'

const nodeFile = fileURLToPath(new URL('../../../machines/32intel64-2p8co2t.xml', import.meta.url))
const largeFile = fileURLToPath(new URL('../../../machines/128arm-2pa2n8cluster4co.xml.gz', import.meta.url))

const folder = ownFolder('cli')
let hosts: string
let profile: string
beforeAll(() => {
  hosts = join(folder, 'hosts')
  profile = join(folder, 'mine.json')
  writeFileSync(hosts, 'n1 slots=4\nn2:4\nn3:2\n')
  writeFileSync(profile, formatProfile({ ...simgridFast, name: 'mine' }))
})

describe('machine', () => {
  it('prints size, links, costs and where the figures are from', async () => {
    const { exitCode, stdout, stderr } = await cli`machine cluster:nodes=16,cores=16,profile=simgrid-fast`
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toBe(
      `cluster:nodes=16,cores=16,profile=simgrid-fast
  nodes          16
  cores          256, 16 per node
  packages       16, 1 per node
  links          32 of nodes
  longest route  2 links
  profile        simgrid-fast, given: settings of our runs in SimGrid 3.32, 2026-11-22

  level    latency    send  receive   gap  per byte
  process     0 ns    0 ns     0 ns  0 ns      0 ns
  package    50 ns  350 ns   350 ns  0 ns   0.05 ns
  node       50 ns  350 ns   350 ns  0 ns   0.05 ns
  network   600 ns  350 ns   350 ns  0 ns   0.08 ns
  hop       100 ns                          0.08 ns

  headers      package 16 bytes, node 16 bytes, network 16 bytes
  copy         0.1 ns per byte, 2 ns per block
  combination  0.1 ns per byte
  eager limit  65,536 bytes

  levels.process          assumed: ranks of one process share memory
  memory.reduceNsPerByte  assumed: as copying: no reduction was simulated
  hop                     assumed: 0.1 us per switch, at the bandwidth of the network interface
`,
    )
  })

  it('checks a host list, and writes it with a line for each host', async () => {
    const fixed = join(folder, 'fixed')
    const { exitCode, stdout } = await cli`machine hosts ${hosts} --check -o ${fixed}`
    expect([exitCode, stdout]).toEqual([
      1,
      expect.stringMatching(
        /hosts +3\n +slots +10\n(?:.*\n)*? *mixed forms +line 2: 'host:N', after lines as 'host slots=N'\n/,
      ),
    ])
    expect(readFileSync(fixed, 'utf8')).toBe('n1 slots=4\nn2 slots=4\nn3 slots=2\n')
    expect(await cli`machine hosts ${fixed} --check`).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/ odd +nothing\n/),
    })
    expect(await cli`machine cluster:cores=2 --check`).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--check: expected hosts and a file'),
    })
  })

  it('reports machine, links and every figure with its source as JSON', async () => {
    const answer = await cli`machine torus:dims=4x2,cores=2,profile=bluegene-p --route 0,7 --json`
    const object = onlyObject(answer)
    expect(object).toMatchObject({
      machine: 'torus:dims=4x2,cores=2,profile=bluegene-p',
      ...{ kind: 'torus', nodes: 8, cores: 16, packages: 8, dims: [4, 2], wraps: [true, true], hosts: null },
      links: { nodes: 16, interior: 32 },
      longestRoute: 5,
      route: {
        ...{ from: 0, to: 7, level: 'network' },
        links: ['node 0 -> network', 'router 0 -> router 3', 'network -> node 3'],
      },
    })
    const { figures } = object['profile'] as { figures: { path: string }[] }
    expect(figures).toHaveLength(26)
    expect(figures[0]).toMatchObject({
      ...{ path: 'levels.process.latencyNs', value: 0 },
      origin: { provenance: 'assumed', source: 'ranks of one process share memory' },
    })
  })

  it('has no costs without a profile', async () => {
    const object = await json`machine clos:radix=4,levels=2,nodes=5 --route 0,4`
    expect(object).toMatchObject({
      machine: 'clos:radix=4,levels=2,nodes=5,cores=1',
      ...{ radix: 4, levels: 2, nodesPerLeaf: 2, profile: null },
      route: {
        level: 'network',
        links: [
          'node 0 -> network',
          'switch 1.0 -> switch 2.0',
          'switch 2.0 -> switch 1.2',
          'network -> node 4',
        ],
      },
    })
    const { stdout } = await cli`machine clos:radix=4,levels=2,nodes=5`
    expect(stdout).toContain('none: messages have no cost')
    expect(stdout).toContain('10 of nodes, 12 between switches')
  })

  it('reads a host list, and lists the hosts', async () => {
    const object = await json`machine hosts ${hosts}`
    expect(object).toMatchObject({ machine: 'cluster:cores=2x4+2', hosts: ['n1', 'n2', 'n3'] })
    expect((await cli`machine hosts:${hosts}`).stdout).toContain('n1, n2, n3')
  })

  it.each([
    [['cluster:nodes=2'], "character 9: expected 'nodes=N,cores=C'"],
    [['cluster:nodes=2,cores=2', 'more'], "expected one description of a machine, got also 'more'"],
    [typed`cluster:nodes=2,cores=2 --route 0,4`, '--route: expected two ranks from 0 to 3 such as 0,3'],
    [typed`cluster:nodes=2,cores=2 --route 0`, '--route: expected two ranks'],
    [['missing.xml'], "cannot read 'missing.xml'"],
    [['slurm,nodes=2'], "character 7: expected by=... or profile=... or ports=... once, got 'nodes=2'"],
    [['slurm,by=cores'], "character 7: expected by=... or profile=... or ports=... once, got 'by=cores'"],
    [
      ['node.xml,nodes=2,nodes=3'],
      "character 18: expected nodes=... or profile=... or ports=... once, got 'nodes=3'",
    ],
    [['slurm,ports=0'], 'expected 1 to 65536 ports per node, got 0'],
    [['node.xml,profile=none'], 'expected a profile, FILE.json or one of simgrid-fast'],
    [['cluster:nodes=1,cores=1,profile=missing.json'], "cannot read 'missing.json'"],
  ])('rejects %j with exit code 2', async (args, message) => {
    expect(await cli`machine ${args}`).toMatchObject(refused(message))
  })
})

describe('readMachine', () => {
  const textOf = (source: string, environment = {}) => formatMachine(readMachine(source, environment).machine)

  it('reads ports of nodes that a file or an environment describes, and the report has them', async () => {
    expect(textOf(`${nodeFile},nodes=2,ports=6`)).toBe('cluster:nodes=2,cores=16,packages=2,ports=6')
    expect(textOf(`hosts:${hosts},ports=1`)).toBe('cluster:cores=2x4+2,ports=1')
    const job = { SLURM_JOB_NODELIST: 'n[1-2]', SLURM_TASKS_PER_NODE: '4(x2)' }
    expect(textOf('slurm,ports=3', job)).toBe('cluster:nodes=2,cores=4,ports=3')
    const { stdout } = await cli`machine torus:dims=4x4,ports=6`
    expect(stdout).toContain('  ports          6 per node, for messages at once\n')
    expect(await json`machine torus:dims=4x4,ports=6`).toMatchObject({ ports: 6 })
    expect(await json`machine torus:dims=4x4`).not.toHaveProperty('ports')
  })

  it('reads nodes from hwloc XML, also compressed, as many as asked for', () => {
    expect(textOf(nodeFile)).toBe('cluster:nodes=1,cores=16,packages=2')
    expect(textOf(`${nodeFile},nodes=64,profile=niagara`)).toBe(
      'cluster:nodes=64,cores=16,packages=2,profile=niagara',
    )
    expect(textOf(`hwloc:${largeFile},nodes=2`)).toBe('cluster:nodes=2,cores=128,packages=2')
  })

  it('reads the environment of Slurm', () => {
    const job = {
      SLURM_JOB_NODELIST: 'n[1-4]',
      SLURM_TASKS_PER_NODE: '2(x4)',
      SLURM_JOB_CPUS_PER_NODE: '8(x4)',
    }
    expect(textOf('slurm', job)).toBe('cluster:nodes=4,cores=2')
    expect(textOf('slurm,by=cpus,profile=graham', job)).toBe('cluster:nodes=4,cores=8,profile=graham')
  })

  it('reads profiles from files, wherever the machine is from', () => {
    expect(textOf(`cluster:profile=${profile},nodes=2,cores=2`)).toBe('cluster:nodes=2,cores=2,profile=mine')
    expect(readMachine(`torus:dims=2x2,profile=${profile}`).machine.profile).toEqual({
      ...simgridFast,
      name: 'mine',
    })
    expect(textOf(`hosts:${hosts},profile=${profile}`)).toBe('cluster:cores=2x4+2,profile=mine')
  })

  it('names the file that is malformed', () => {
    expect(() => readMachine(`cluster:nodes=1,cores=1,profile=${hosts}.json`)).toThrow('cannot read')
    expect(() => readMachine(`hwloc:${hosts}`)).toThrow(
      `'${hosts}': line 1, character 1: expected '<topology'`,
    )
  })
})

describe('--machine', () => {
  it('takes tori and files', async () => {
    const torus = typed`plan moore:8x8:r=1 --machine torus:dims=4x2,cores=8 --json`
    expect(onlyObject(await cli(...torus))).toMatchObject({ machine: 'torus:dims=4x2,cores=8' })
    const file = typed`topology moore:8x8:r=1 --machine ${nodeFile},nodes=4 --json`
    expect(onlyObject(await cli(...file))).toMatchObject({ machine: 'cluster:nodes=4,cores=16,packages=2' })
  })

  it('of simulate takes tori, Clos networks and profiles from files', async () => {
    for (const machine of ['torus:dims=4x2,cores=2', 'clos:radix=4,levels=2,cores=2']) {
      const args = typed`simulate allgather-ring --bytes 1024 --machine ${machine},profile=${profile} --json`
      const object = onlyObject(await cli(...args))
      expect(object['timeUs']).toBeGreaterThan(15 * (0.35 + 0.35))
    }
  })
})
