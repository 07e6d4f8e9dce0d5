import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { daily, isSoak } from '../../../support/soak.js'
import { type Answer, onlyObject } from '../run-cli.js'
import { command, commandFromSource, spawnCli } from '../spawn-cli.js'

/** Programs in a folder outside this package. */
const programs: Readonly<Record<string, string>> = {
  'sum.ts': `
    import { type Communicator, RankweaveError } from 'rankweave'
    import { twice } from './twice.ts'
    enum Kind { Result = 7 }
    export default async function main(world: Communicator, args: readonly string[]) {
      const grid = await world.createCart([world.size])
      const sum = await grid!.allreduce(Float64Array.of(twice(world.rank)), 'sum')
      return { sum, args, kind: Kind.Result, same: new RankweaveError('ERR_RANK', '') instanceof Error, big: 2n ** 62n }
    }`,
  'twice.ts': 'export const twice = (n: number): number => 2 * n',
  'plain.mjs': `
    import { ANY_SOURCE } from 'rankweave'
    export default async (world) => (await world.allgather(Int32Array.of(world.rank + ANY_SOURCE)))[world.size - 1]`,
  'module.mts': 'export default (world: { rank: number }) => world.rank as number',
  'lines.mjs': `
    export default async function main(world) {
      process.stdout.write('begins ')
      await world.barrier()
      console.log('and ends\\nsecond line')
      console.error('aside')
      await world.barrier()
      process.stdout.write(Buffer.from('unfinished é'))
    }`,
  'hosted.ts': `
    import type { Communicator } from 'rankweave'
    export default (world: Communicator, args: readonly string[]) => ['default', world.rank, ...args]
    export async function hosted(worlds: readonly Communicator[], args: readonly string[]) {
      if (args[0] === 'throw' && worlds[0].rank > 0) throw new TypeError('out of cheese')
      process.stdout.write('of ')
      await Promise.all(worlds.map((world) => world.barrier()))
      console.log(worlds.length)
      return worlds.map((world) => ['hosted', world.rank, ...args])
    }`,
  'hosted.cjs': `
    module.exports = (world) => 'default'
    module.exports['hos' + 'ted'] = (worlds) => worlds.map((world) => 'hosted ' + world.rank)`,
  'hosted-value.mjs': `
    export default (world) => world.rank
    export const hosted = 7`,
  'throws.ts': `
    export default async function main(world) {
      if (world.rank === 2) throw new TypeError('rank 2 fails')
      await world.barrier()
    }`,
  'aborts.mjs': `export default async (world) => { if (world.rank === 1) world.abort('enough'); await world.barrier() }`,
  'deadlock.mjs': `export default async (world) => { await world.recv((world.rank + 1) % world.size, 5) }`,
  'stray.mjs': `
    export default async function main(world) {
      if (world.rank === 1) setTimeout(() => { throw new RangeError('from a timer') }, 1)
      await new Promise((resolve) => setTimeout(resolve, 1e8))
    }`,
  'dropped.ts': `
    export default async function main(world) {
      if (world.rank === 1) Promise.reject(new RangeError('from a dropped promise'))
      else await world.recv(1, 5)
      await new Promise((resolve) => setTimeout(resolve, 1e8))
    }`,
  'lingers.mjs': `export default (world) => { setInterval(() => {}, 1000); return world.rank }`,
  'waits.mjs': `
    export default async function main(world) {
      if (world.rank === 0) console.log('waiting')
      await new Promise((resolve) => setTimeout(resolve, 1e8))
    }`,
  'chatty.mjs': `
    export default async function main(world) {
      for (let i = 0; i < 20_000; i++) console.log('line ' + i + ' ' + 'x'.repeat(80))
    }`,
  'noisy.mjs': `
    console.log('while loading')
    process.on('exit', () => console.log('at the very end'))
    export default async (world) => { setImmediate(() => console.log('late')); console.log('running') }`,
  'bytes.mjs': `
    export default async function main(world) {
      for (const byte of Buffer.from('é\\n')) process.stdout.write(Buffer.of(byte))
    }`,
  'exits.mjs':
    'export default async (world) => { await world.barrier(); if (world.rank === 1) process.exit(0) }',
  'exits-later.mjs': `
    export default async (world) => { if (world.rank === 1) setTimeout(() => process.exit(5), 1); await world.recv(0) }`,
  'uncaught.mjs': `
    export default async (world) => {
      await world.barrier()
      if (world.rank === 3) setImmediate(() => { throw new RangeError('not caught') })
      await world.recv(3)
    }`,
  'misuses.mjs': `export default async (world) => {
      await world.send(1, 99)
    }`,
  'returns-function.mjs': 'export default () => () => 1',
  'other.cts': 'module.exports = () => 1',
  'plain.cjs': 'module.exports = (world) => world.rank',
  'default.cjs': 'exports.default = (world) => world.rank',
  'transpiled.cjs': `"use strict"; Object.defineProperty(exports, "__esModule", { value: true }); exports.default = main
    function main(world) { return world.rank }`,
  'names.cjs': 'exports.main = () => 1',
  'one-thread.mjs': `
    import { workerData } from 'node:worker_threads'
    if (workerData.connection.process === 1) throw new Error('not in this one')
    export default (world) => world.barrier()`,
  'never.mjs': 'export default () => new Promise(() => {})',
  'no-default.mjs': 'export const main = () => {}',
  'not-a-function.mjs': 'export default 42',
  'broken.ts': 'export default function (',
  'fails-to-load.ts': `throw new Error('not today'); export default () => {}`,
  'exits-early.mjs': 'process.exit(0); export default () => {}',
  'never-loads.mjs': 'await new Promise(() => {}); export default () => {}',
  'stray-load.mjs': `
    setTimeout(() => { throw new RangeError('from a timer') }, 1)
    await new Promise((resolve) => setTimeout(resolve, 1e8))
    export default () => {}`,
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rankweave-run-'))
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder, name), text)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (...argv: string[]) => spawnCli(['run', ...argv], { cwd: folder })

describe('results', () => {
  it('on threads, results equal those on local and tagged lines are whole', async () => {
    const fabric = ['--fabric', 'threads', '--processes', '2']
    const answer = await run('sum.ts', '-n', '5', ...fabric, '--json', '--', 'x')
    expect(answer.exitCode).toBe(0)
    const result = { sum: [20], args: ['x'], kind: 7, same: true, big: '4611686018427387904' }
    expect(onlyObject(answer)).toMatchObject({
      fabric: 'threads',
      results: Array.from({ length: 5 }, () => result),
    })
    const tagged = await run('lines.mjs', '-n', '3', ...fabric, '--tag-output')
    for (const rank of [0, 1, 2]) {
      for (const line of ['begins and ends', 'second line', 'unfinished é']) {
        expect(tagged.stdout).toContain(`[${rank}] ${line}\n`)
      }
    }
    expect((await run('throws.ts', '-n', '3', ...fabric)).exitCode).toBe(3)
  })

  // On `local` in test/soak.
  const sourceTest = 'the command from source runs the same programs, on threads'
  if (isSoak)
    it(sourceTest, async () => {
      const fabric = 'threads'
      const words = ['run', 'sum.ts', '-n', '5', '--processes', '1', '--fabric', fabric, '--json', '--', 'x']
      const answer = await spawnCli(words, { cwd: folder, command: commandFromSource })
      expect(answer.exitCode).toBe(0)
      const result = { sum: [20], args: ['x'], kind: 7, same: true, big: '4611686018427387904' }
      expect(onlyObject(answer)).toMatchObject({ fabric, results: Array.from({ length: 5 }, () => result) })
    })

  it('a TypeScript program outside the package loads the library, its own modules and its arguments', async () => {
    const answer = await run('sum.ts', '-n', '5', '--processes', '2', '--json', '--', 'x', '--json', '-n')
    expect(answer.exitCode).toBe(0)
    const result = { sum: [20], args: ['x', '--json', '-n'], kind: 7, same: true, big: '4611686018427387904' }
    expect(onlyObject(answer)).toEqual({
      ranks: 5,
      processes: 2,
      fabric: 'local',
      seconds: expect.any(Number),
      results: Array.from({ length: 5 }, () => result),
    })
  })

  it('.mjs and .mts programs run, and results are printed per rank', async () => {
    const [plain, module] = await Promise.all([run('plain.mjs', '-n', '3'), run('module.mts', '-n', '2')])
    expect(plain).toMatchObject({
      exitCode: 0,
      stdout: 'rank 0 returned 1\nrank 1 returned 1\nrank 2 returned 1\n',
    })
    expect(module).toMatchObject({ exitCode: 0, stdout: 'rank 0 returned 0\nrank 1 returned 1\n' })
    expect(module.stderr).toMatch(/^2 ranks on 1 process: /)
  })

  it.each(daily(['plain.cjs', 'default.cjs', 'transpiled.cjs'], 3))(
    '%s: a CommonJS program runs',
    async (program) => {
      expect(await run(program, '-n', '2')).toMatchObject({
        exitCode: 0,
        stdout: 'rank 0 returned 0\nrank 1 returned 1\n',
      })
    },
  )

  it('timers that a program leaves open do not keep the command alive', async () => {
    expect(await run('lingers.mjs', '-n', '2')).toMatchObject({ exitCode: 0 })
  })
})

describe.each([[['--processes', '2']], [['--fabric', 'threads']]])(
  'a program that exports hosted (%s)',
  (fabric) => {
    const inTwo = ['-n', '3', ...fabric]

    it('runs once per process, and its lines begin with its first and last rank', async () => {
      const answer = await run('hosted.ts', ...inTwo, '--tag-output', '--json', '--', 'x')
      expect(answer.exitCode).toBe(0)
      expect(onlyObject(answer)).toMatchObject({ results: [0, 1, 2].map((rank) => ['hosted', rank, 'x']) })
      expect(answer.stderr).toContain('[0-1] of 2\n')
      expect(answer.stderr).toContain('[2] of 1\n')
    })

    it('runs its default export with --no-hosted', async () => {
      const answer = await run('hosted.ts', ...inTwo, '--no-hosted', '--json', '--', 'x')
      expect(onlyObject(answer)).toMatchObject({ results: [0, 1, 2].map((rank) => ['default', rank, 'x']) })
    })

    it('fails at the first of its ranks', async () => {
      const answer = await run('hosted.ts', ...inTwo, '--', 'throw')
      expect(answer.exitCode).toBe(3)
      expect(answer.stderr).toMatch(/rank 2.*TypeError: out of cheese|TypeError: out of cheese.*rank 2/s)
    })

    it('may be a CommonJS module', async () => {
      const answer = await run('hosted.cjs', ...inTwo, '--json')
      expect(onlyObject(answer)).toMatchObject({ results: ['hosted 0', 'hosted 1', 'hosted 2'] })
    })

    it('is refused where it exports anything else under that name', async () => {
      const answer = await run('hosted-value.mjs', ...inTwo)
      expect(answer.exitCode).toBe(2)
      expect(answer.stderr).toContain(
        'expected as export hosted a function (worlds, args) => ..., got one of type number',
      )
    })
  },
)

describe('output', () => {
  it('--tag-output: whole lines, each with its rank', async () => {
    const { stdout, stderr } = await run('lines.mjs', '-n', '3', '--tag-output')
    const lines = stdout.split('\n').filter((line) => line !== '')
    expect(lines).toHaveLength(9)
    for (const rank of [0, 1, 2]) {
      const own = lines.filter((line) => line.startsWith(`[${rank}] `)).map((line) => line.slice(4))
      expect(own).toEqual(['begins and ends', 'second line', 'unfinished é'])
      expect(stderr).toContain(`[${rank}] aside\n`)
    }
  })

  it('--json sends the output of the program to standard error, and one object to standard output', async () => {
    const answer = await run('lines.mjs', '-n', '2', '--json', '--tag-output')
    expect(Object.keys(onlyObject(answer))).toEqual(['ranks', 'processes', 'fabric', 'seconds'])
    expect(answer.stderr).toContain('[1] begins and ends\n')
  })

  it('--json keeps output written while the program loads and exits off standard output', async () => {
    const answer = await run('noisy.mjs', '-n', '1', '--json')
    expect(Object.keys(onlyObject(answer))).toEqual(['ranks', 'processes', 'fabric', 'seconds'])
    for (const line of ['while loading', 'running', 'at the very end']) expect(answer.stderr).toContain(line)
  })

  it('--tag-output joins characters that arrive byte by byte', async () => {
    expect(await run('bytes.mjs', '-n', '2', '--tag-output')).toMatchObject({ stdout: '[0] é\n[1] é\n' })
  })

  it.skipIf(!existsSync('/dev/full'))(
    'a full disk behind standard output is reported (needs /dev/full)',
    async () => {
      const words = [...command, 'run', 'chatty.mjs', '-n', '1'].map((word) => `'${word}'`).join(' ')
      const script = `${words} >/dev/full; echo "exit $?"`
      const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], { cwd: folder })
      expect(stdout).toBe('exit 2\n')
      expect(stderr).toMatch(/^ERR_FILE: cannot write the output: ENOSPC/m)
    },
  )

  it('a reader that leaves early ends the command as SIGPIPE would', async () => {
    const words = [...command, 'run', 'chatty.mjs', '-n', '2'].map((word) => `'${word}'`).join(' ')
    const script = `${words} | head -n 1; echo "exit \${PIPESTATUS[0]}"`
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], { cwd: folder })
    expect(stdout).toMatch(/^line 0 x+\nexit 141\n$/)
    expect(stderr).not.toContain('EPIPE')
  })
})

describe("exit code 3: the program's world failed", () => {
  it.each(
    daily(
      [
        ['throws.ts', 'TypeError', 'rank 2 fails'],
        ['aborts.mjs', 'ERR_WORLD_ABORTED', 'enough'],
        ['deadlock.mjs', 'ERR_DEADLOCK', 'rank'],
        ['stray.mjs', 'RangeError', 'from a timer'],
        ['dropped.ts', 'RangeError', 'from a dropped promise'],
        ['exits.mjs', 'ERR_WORLD_ABORTED', 'process.exit(0)'],
        ['never.mjs', 'ERR_DEADLOCK', 'nothing is left'],
      ],
      2,
    ),
  )('%s: %s', async (program, code, message) => {
    const answer = await run(program, '-n', '4', '--processes', '2', '--json')
    expect(answer.exitCode).toBe(3)
    expect(onlyObject(answer)).toMatchObject({
      error: { code, message: expect.stringContaining(message), details: expect.any(Object) },
    })
    expect(answer.stderr).toContain(`${code}: `)
  })

  it.each(
    daily(
      [
        ['SIGINT', 'local'],
        ['SIGTERM', 'local'],
        ['SIGINT', 'threads'],
        ['SIGTERM', 'threads'],
      ] as const,
      3,
    ),
  )('%s on %s ends the world, and is reported once', async (signal, fabric) => {
    const answer = await spawnCli(['run', 'waits.mjs', '-n', '2', '--fabric', fabric, '--processes', '2'], {
      cwd: folder,
      onOutput: (_, kill) => kill(signal),
    })
    expect(answer).toMatchObject({ exitCode: 3, stdout: 'waiting\n' })
    expect(answer.stderr.match(/interrupted/g)).toHaveLength(1)
    expect(answer.stderr).toMatch(new RegExp(`^ERR_ABORTED: .*${signal}$`, 'm'))
  })

  it.each(
    daily(
      [
        ['uncaught.mjs', 'ERR_PEER_LOST', 'RangeError: not caught'],
        ['exits.mjs', 'ERR_WORLD_ABORTED', 'process.exit(0)'],
        ['exits-later.mjs', 'ERR_WORLD_ABORTED', 'process.exit(5)'],
        ['never.mjs', 'ERR_DEADLOCK', 'nothing is left'],
        ['returns-function.mjs', 'ERR_CLONE', 'the value that rank 0 returned'],
      ],
      2,
    ),
  )('on threads, %s: %s', async (program, code, message) => {
    const answer = await run(program, '-n', '4', '--fabric', 'threads', '--processes', '2', '--json')
    expect(answer.exitCode).toBe(3)
    expect(onlyObject(answer)).toMatchObject({
      error: { code, message: expect.stringContaining(message), details: expect.any(Object) },
    })
    expect(answer.stderr.match(new RegExp(`^${code}: `, 'gm'))).toHaveLength(1)
  })
})

describe.each(['local', 'threads'])('where an error comes from, on %s', (fabric) => {
  const argv = ['-n', '4', '--fabric', fabric, '--processes', '2']
  it.each(
    daily(
      [
        ['throws.ts', 3, 'TypeError: rank 2 fails', 'throws.ts:3'],
        ['dropped.ts', 3, 'from a dropped promise', 'dropped.ts:3'],
        [
          'fails-to-load.ts',
          2,
          'ERR_PROGRAM: fails-to-load.ts failed to load: Error: not today',
          'fails-to-load.ts:1',
        ],
        ['misuses.mjs', 3, 'ERR_RANK: ', 'misuses.mjs:2'],
      ] as const,
      2,
    ),
  )('%s: the frames of the program and no others', async (program, exitCode, message, place) => {
    const answer = await run(program, ...argv)
    expect(answer.exitCode).toBe(exitCode)
    expect(answer.stderr).toContain(message)
    const frames = answer.stderr.split('\n').filter((line) => line.startsWith('    at '))
    expect(frames).toEqual([expect.stringContaining(place)])
  })
})

describe('who waits for what', () => {
  it.skipIf(process.platform === 'win32')('is printed on SIGUSR2 (no such signal on Windows)', async () => {
    const answer = await spawnCli(['run', 'waits.mjs', '-n', '2'], {
      cwd: folder,
      onOutput: (_, kill) => kill('SIGUSR2'),
      onError: (text, kill) => text.includes('who waits') && kill('SIGINT'),
    })
    expect(answer).toMatchObject({ exitCode: 3, stdout: 'waiting\n' })
    expect(answer.stderr).toMatch(/^who waits for what, 2 ranks on 1 process\n {2}\d blocked, \d running/)
  })

  it.each(['local', 'threads'])('is printed --report-after some seconds, on %s', async (fabric) => {
    const argv = ['run', 'waits.mjs', '-n', '2', '--fabric', fabric, '--report-after', '0.01', '--json']
    const answer = await spawnCli(argv, {
      cwd: folder,
      onError: (text, kill) => text.includes('who waits') && kill('SIGINT'),
    })
    expect(answer.exitCode).toBe(3)
    const processes = fabric === 'threads' ? '2 processes' : '1 process'
    expect(answer.stderr).toContain(`who waits for what, 2 ranks on ${processes}\n`)
    expect(onlyObject(answer)).toMatchObject({ error: { code: 'ERR_ABORTED' } })
  })

  it('--report-after rejects words that are not seconds', async () => {
    const answer = await run('waits.mjs', '-n', '2', '--report-after', 'soon')
    expect(answer.exitCode).toBe(2)
    expect(answer.stderr).toContain('--report-after: expected seconds from 0 to 2147483, got "soon"')
  })
})

describe('exit code 2: there is no program to run', () => {
  it.each(
    daily(
      [
        ['no-default.mjs', 'no default export'],
        ['not-a-function.mjs', 'a default export of type number'],
        ['broken.ts', 'failed to load'],
        ['fails-to-load.ts', 'not today'],
        ['exits-early.mjs', 'process.exit(0)'],
        ['never-loads.mjs', 'nothing is left'],
        ['stray-load.mjs', 'from a timer'],
        ['missing.ts', "there is no file 'missing.ts'"],
        ['other.cts', 'expected a .ts, .mts, .js, .mjs, .cjs file'],
        ['names.cjs', 'a default export of type object'],
      ],
      3,
    ),
  )('%s: %s', async (program, message) => {
    expectNoProgram(await run(program, '-n', '2', '--json'), program, message)
  })

  it.each(
    daily(
      [
        ['no-default.mjs', 'no default export'],
        ['exits-early.mjs', 'process.exit(0)'],
        ['never-loads.mjs', 'nothing is left'],
        ['missing.ts', "there is no file 'missing.ts'"],
      ],
      3,
    ),
  )('on threads, %s: %s', async (program, message) => {
    const answer = await run(program, '-n', '2', '--fabric', 'threads', '--processes', '2', '--json')
    expectNoProgram(answer, program, message)
  })

  it('a program that only one thread cannot load ends with exit code 2', async () => {
    const answer = await run('one-thread.mjs', '-n', '4', '--fabric', 'threads', '--processes', '3')
    expect(answer.exitCode).toBe(2)
    expect(answer.stderr).toMatch(
      /^ERR_PROGRAM: one-thread.mjs failed to load: Error: not in this one\n {4}at file:.*one-thread.mjs:3:\d+\n$/,
    )
  })

  it.each(
    daily(
      [
        ['0', 'threads', 'an integer from 1 to 4096'],
        ['65', 'threads', 'expected processes, an integer from 1 to 64'],
      ],
      2,
    ),
  )('%s processes of %s', async (processes, fabric, message) => {
    const answer = await run('plain.mjs', '-n', '4', '--fabric', fabric, '--processes', processes)
    expect(answer.exitCode).toBe(2)
    expect(answer.stderr).toContain(message)
  })

  it('more processes than ranks leave some processes without ranks', async () => {
    const answer = await run('plain.mjs', '-n', '2', '--fabric', 'threads', '--processes', '3', '--json')
    expect(onlyObject(answer)).toMatchObject({ ranks: 2, processes: 3, results: [0, 0] })
  })
})

function expectNoProgram(answer: Answer, file: string, message: string): void {
  expect(answer.exitCode).toBe(2)
  expect(onlyObject(answer)).toMatchObject({
    error: { code: 'ERR_PROGRAM', message: expect.stringContaining(message), details: { file } },
  })
  expect(answer.stderr.match(/ERR_PROGRAM/g)).toHaveLength(1)
}
