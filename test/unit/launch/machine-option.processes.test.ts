import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Communicator, host, join as joinWorld, run } from 'rankweave'
import { cluster, type Machine, parseMachine, torus } from 'rankweave/machine'
import { afterAll, describe, expect, it } from 'vitest'
import { describeMpi, rankweave, runJob, startCommand } from '../../support/mpi.js'
import { onlyObject } from '../cli/run-cli.js'
import { spawnCli } from '../cli/spawn-cli.js'

const folder = mkdtempSync(join(tmpdir(), 'rankweave-machine-'))
afterAll(() => rmSync(folder, { recursive: true }))

const file = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const program = file(
  'program.mjs',
  `export default async (world) => {
  const { from, text } = world.describe().machine
  return from + ' ' + text
}`,
)
const used = (world: Communicator) => {
  const { from, text } = world.describe().machine
  return `${from} ${text}`
}
const text = 'torus:dims=2x2,cores=2,profile=simgrid-fast'
const machine = parseMachine(text)

describe('run with a machine', () => {
  it.each(['local', 'threads', 'websocket'] as const)('reaches every process on %s', async (fabric) => {
    const results = await run<string>(pathToFileURL(program), { ranks: 3, processes: 3, fabric, machine })
    expect(results).toEqual(Array(3).fill(`world ${text}`))
  })

  it('has none by default', async () => {
    expect(await run(used, { ranks: 2, processes: 2 })).toEqual(Array(2).fill('nodes null'))
  })

  it.each<[string, unknown, RegExp]>([
    ['a text', text, /expected machine, a machine, such as parseMachine returns, got 'torus/],
    ['null', null, /expected machine, a machine/],
    ['too few cores', cluster({ nodes: 2, cores: 1 }), /at least 3 cores for 3 ranks, got 2/],
    ['a damaged machine', { ...torus({ dims: [4] }), dims: [5] }, /expected 5 nodes for the extents, got 4/],
  ])('refuses %s before a rank runs', async (_, given, message) => {
    let ranks = 0
    const world = run(() => ranks++, { ranks: 3, machine: given as Machine })
    await expect(world).rejects.toMatchObject({
      code: 'ERR_MACHINE',
      message: expect.stringMatching(message),
    })
    expect(ranks).toBe(0)
  })
})

describe('a world that processes join', () => {
  it('has the machine of its host', async () => {
    const world = await host({ ranks: 3, processes: 2, machine })
    const { url, token } = world
    const joined = [0, 1].map(() => joinWorld(used, { url, token, program: 'used' }))
    const results = (await Promise.all(joined)).flatMap((each) => each.results)
    expect(results).toEqual(Array(3).fill(`world ${text}`))
    await world.close()
  })

  it('is not opened with too few cores', async () => {
    const opened = host({ ranks: 3, machine: cluster({ nodes: 1, cores: 2 }) })
    await expect(opened).rejects.toMatchObject({ code: 'ERR_MACHINE' })
  })
})

describe('rankweave run --machine', () => {
  const flags = ['run', program, '-n', '3', '--json']

  it('names the machine of the world', async () => {
    const named = await spawnCli([...flags, '--machine', text])
    expect(onlyObject(named)['results']).toEqual(Array(3).fill(`world ${text}`))
  })

  it('takes a host list', async () => {
    const hosts = file('hosts', 'a:2\nb:2\n')
    const named = await spawnCli([...flags, '--fabric', 'threads', '--machine', `hosts:${hosts}`])
    expect(onlyObject(named)['results']).toEqual(Array(3).fill('world cluster:nodes=2,cores=2'))
  })

  it.each([
    ['an unknown form', 'ring:nodes=4', /^ERR_MACHINE: .*expected/],
    [
      'too few cores',
      'cluster:nodes=2,cores=1',
      /^ERR_MACHINE: expected at least 3 cores for 3 ranks, got 2/,
    ],
    ['no file', 'hosts:none-here', /^ERR_FILE: /],
  ])('refuses %s as bad input', async (_, given, message) => {
    for (const command of [flags, ['host', '-n', '3', '--json']]) {
      const refused = await spawnCli([...command, '--machine', given])
      expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringMatching(message)])
    }
  })
})

describeMpi('a machine on mpi', (mpi) => {
  const flags = rankweave('run', program, '-n', '2', '--fabric', 'mpi')

  it('that all processes pass is used', async () => {
    const { code, stdout } = await runJob(mpi, 2, [...flags, '--machine', text])
    expect([code, stdout]).toEqual([0, expect.stringContaining(`rank 1 returned 'world ${text}'`)])
  })

  it.each([
    ['differs', '--machine cluster:nodes=2,cores=2'],
    ['is of one process only', ''],
  ])('that %s is refused on all processes, before a rank runs', async (_, other) => {
    const script = `[ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 1 ] && exec "$@" ${other}; exec "$@" --machine '${text}'`
    const words = ['sh', '-c', script, 'sh', process.execPath, ...flags]
    const { code, stdout, stderr } = await startCommand(mpi, 2, words).ended
    // Process 0 reports for all.
    expect(stderr.split('ERR_MACHINE_MISMATCH')).toHaveLength(2)
    expect(stderr).toMatch(/process 0 has one with checksum [0-9a-f]{16}, process 1 (none|one with)/)
    expect([code, stdout]).toEqual([expect.any(Number), ''])
    expect(code).not.toBe(0)
  })
})
