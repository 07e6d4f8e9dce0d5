import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Communicator, host, join as joinWorld, run } from 'rankweave'
import { cluster, type Machine, parseMachine, torus } from 'rankweave/machine'
import { afterAll, describe, expect, it } from 'vitest'
import { refusal } from '../../support/refusal.js'
import { cli, onlyObject } from '../cli/run-cli.js'
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
    await expect(world).rejects.toMatchObject(refusal('ERR_MACHINE', message))
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

  it.each([
    ['names the machine of the world', text, [], text],
    [
      'takes a host list',
      `hosts:${file('hosts', 'a:2\nb:2\n')}`,
      ['--fabric', 'threads'],
      'cluster:nodes=2,cores=2',
    ],
  ])('%s', async (_, given, more, named) => {
    const answer = await spawnCli([...flags, ...more, '--machine', given])
    expect(onlyObject(answer)['results']).toEqual(Array(3).fill(`world ${named}`))
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
      const refused = await cli(...command, '--machine', given)
      expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringMatching(message)])
    }
  })
})
