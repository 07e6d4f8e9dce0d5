import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Communicator, host, join as joinWorld, run } from 'rankweave'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { loadTuning } from '../../../src/launch/processes/load-tuning.js'
import { formatTuningFile } from '../../../src/tuning/models/read-tuning-file.js'
import { refusal } from '../../support/refusal.js'
import { simulated, treeByBytes } from '../../support/tuning-files.js'
import { cli, onlyObject } from '../cli/run-cli.js'
import { spawnCli } from '../cli/spawn-cli.js'

const folder = mkdtempSync(join(tmpdir(), 'rankweave-tuning-'))
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => {
  delete process.env['RANKWEAVE_TUNING']
})

const file = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const tuningFile = (name: string, algorithm: string, source = simulated) =>
  file(name, formatTuningFile(source, { allgather: treeByBytes('allgather', [algorithm]) }))

const ring = tuningFile('ring.json', 'allgather-ring')
const linear = tuningFile('linear.json', 'allgather-linear')
const ofMpi = tuningFile('mpi.json', 'ring', { kind: 'mpi', name: 'Open MPI 4.1.4', machine: 'here' })
const ofThreads = tuningFile('threads.json', 'allgather-ring', {
  ...{ kind: 'rankweave', name: 'threads', machine: 'here' },
})
const text = `export default async (world) => {
  await world.allgather(new Uint8Array(8))
  const [use] = world.describe().collectives
  return use.algorithm + ', ' + use.why
}`
const program = file('program.mjs', text)
const byRing = 'allgather-ring, tuning file: every call'
const byLinear = 'allgather-linear, tuning file: every call'

const used = async (world: Communicator) => {
  await world.allgather(new Uint8Array(8))
  return world.describe().collectives[0].algorithm
}

describe('run with a tuning file', () => {
  it.each(['local', 'threads', 'websocket'] as const)('reaches every process on %s', async (fabric) => {
    const results = await run<string>(pathToFileURL(program), {
      ...{ ranks: 3, processes: 3, fabric, tuning: ring },
    })
    expect(results).toEqual(Array(3).fill(byRing))
  })

  it('takes its path, its URL and what it holds; null is none', async () => {
    const held = await loadTuning('test', ring, 'local')
    for (const tuning of [ring, pathToFileURL(ring), held]) {
      expect(await run(used, { ranks: 2, processes: 2, tuning })).toEqual(Array(2).fill('allgather-ring'))
    }
    process.env['RANKWEAVE_TUNING'] = ring
    expect(await run(used, { ranks: 2, processes: 2, tuning: null })).not.toContain('allgather-ring')
  })

  it('takes that of the environment, which counts less than the option', async () => {
    process.env['RANKWEAVE_TUNING'] = ring
    expect(await run(used, { ranks: 2, processes: 2 })).toEqual(Array(2).fill('allgather-ring'))
    expect(await run(used, { ranks: 2, processes: 2, tuning: linear })).toEqual(
      Array(2).fill('allgather-linear'),
    )
    process.env['RANKWEAVE_TUNING'] = ''
    expect(await run(used, { ranks: 2, processes: 2 })).not.toContain('allgather-ring')
  })

  const damaged = file('damaged.json', '{"format":"rankweave-tuning","version":1}')
  it.each([
    ['no file', join(folder, 'none.json'), 'ERR_FILE', /none\.json/],
    ['a folder', folder, 'ERR_FILE', /cannot read/],
    ['a device without end', '/dev/zero', 'ERR_FILE', /at most 16777216 bytes/],
    ['a damaged file', damaged, 'ERR_TUNING', /tuning file '.*damaged\.json', source/],
    ['a file of a library of MPI', ofMpi, 'ERR_TUNING', /preloaded library/],
    ['a file of another fabric', ofThreads, 'ERR_TUNING', /on fabric local, got .*'threads' on 'here'/],
    ['a number', 7 as never, 'ERR_ARGUMENT', /tuning as the path/],
    ['an object that is no file', {} as never, 'ERR_TUNING', /run, tuning, format/],
  ])('refuses %s before a rank runs', async (_, tuning, code, message) => {
    let ranks = 0
    const world = run(() => ranks++, { ranks: 2, tuning })
    await expect(world).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
    expect(ranks).toBe(0)
  })
})

describe('processes that join with tuning files', () => {
  const worldOf = async (opened: string | null, joined: readonly (string | null)[]) => {
    const world = await host({ ranks: joined.length, tuning: opened })
    const { url, token } = world
    const outcomes = await Promise.allSettled(
      joined.map(async (tuning) => joinWorld(used, { url, token, tuning, program: 'used' })),
    )
    await world.close()
    return outcomes
  }

  it.each([
    [ring, [ring, ring]],
    [null, [ring, ring]],
  ])('use the file that all have', async (opened, joined) => {
    const outcomes = await worldOf(opened, joined)
    expect(outcomes).toEqual(
      Array(2).fill({ status: 'fulfilled', value: expect.objectContaining({ results: ['allgather-ring'] }) }),
    )
  })

  it.each<[string, string | null, string | null]>([
    ['another file', ring, linear],
    ['none', ring, null],
  ])('are refused with %s than the host has named', async (_, opened, joined) => {
    const world = await host({ ranks: 2, tuning: opened })
    const { url, token } = world
    const refused = joinWorld(used, { url, token, tuning: joined, program: 'used' })
    await expect(refused).rejects.toMatchObject(
      refusal(
        'ERR_TUNING_MISMATCH',
        /expected the tuning file with checksum [0-9a-f]{16}, or online tuning with it, got/,
      ),
    )
    await world.close()
  })

  it('read it before they join', async () => {
    const refused = joinWorld(used, { url: 'ws://127.0.0.1:9', token: 'x', tuning: ofMpi, program: 'used' })
    await expect(refused).rejects.toMatchObject({ code: 'ERR_TUNING' })
  })
})

describe('rankweave run --tuning', () => {
  const flags = ['run', program, '-n', '2', '--processes', '2', '--json']

  it('chooses by the file, else by that of RANKWEAVE_TUNING', async () => {
    process.env['RANKWEAVE_TUNING'] = ring
    const named = await spawnCli([...flags, '--tuning', linear])
    expect(onlyObject(named)['results']).toEqual([byLinear, byLinear])
    const set = await spawnCli(flags)
    expect(onlyObject(set)['results']).toEqual([byRing, byRing])
  })

  it('of a world that processes join is that of its host', async () => {
    let opened: (printed: { readonly url: string; readonly token: string }) => void
    const printed = new Promise<{ readonly url: string; readonly token: string }>((resolve) => {
      opened = resolve
    })
    const hosting = spawnCli(['host', '-n', '1', '--tuning', ring, '--json'], {
      onOutput: (text) => opened(JSON.parse(text)),
    })
    const { url, token } = await printed
    const alone = file('alone.mjs', 'export default () => 1')
    const without = await spawnCli(['join', url, '--token', token, alone])
    expect([without.exitCode, without.stderr]).toEqual([2, expect.stringMatching(/^ERR_TUNING_MISMATCH: /)])
    const joined = await spawnCli(['join', url, '--token', token, '--tuning', ring, '--json', alone])
    expect(onlyObject(joined)['results']).toEqual([1])
    expect((await hosting).exitCode).toBe(0)
  })

  it.each([
    ['of another fabric', [...flags, '--tuning', ofThreads], /^ERR_TUNING: --tuning: expected/, ''],
    ['of a library of MPI', ['measure', '-n', '2', '--tuning', ofMpi], /^ERR_TUNING: /, ''],
    ['that is missing', ['calibrate', '--fabric', 'threads'], /^ERR_FILE: /, join(folder, 'none.json')],
  ])('refuses a file %s as bad input', async (_, words, message, set) => {
    process.env['RANKWEAVE_TUNING'] = set
    expect(await cli(...words)).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(message) })
  })
})
