import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { daily, isSoak } from '../../../support/soak.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'
import { cli, onlyObject } from '../run-cli.js'
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
  'left.mjs': 'export default (world) => { world.rank === 0 ? world.send(1, 1, 7) : world.recv(0, 8) }',
  'not-awaited.mjs': `export default async (world) => { const sum = world.allreduce(1, 'sum'); return \`\${sum}\`.length / sum }`,
  'never.mjs': 'export default () => new Promise(() => {})',
  'never-listens.mjs': `process.removeAllListeners()
export default () => {
  process.removeAllListeners()
  return new Promise(() => {})
}`,
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

const folder = temporaryFolder('run')
beforeAll(() => {
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder(), name), text)
})

const run = (...argv: string[]) => spawnCli(['run', ...argv], { cwd: folder() })
const inTwo = (fabric: string) => ['--fabric', fabric, '--processes', '2']

describe('results', () => {
  const ofSum = (...args: string[]) => ({ sum: [20], args, kind: 7, same: true, big: '4611686018427387904' })

  it('a TypeScript program outside the package loads the library, its own modules and its arguments', async () => {
    const answer = await run('sum.ts', '-n', '5', '--processes', '2', '--json', '--', 'x', '--json', '-n')
    expect(answer.exitCode).toBe(0)
    expect(onlyObject(answer)).toEqual({
      ...{ ranks: 5, processes: 2, fabric: 'local', seconds: expect.any(Number) },
      results: Array(5).fill(ofSum('x', '--json', '-n')),
    })
  })

  // The command from source, on `local` in test/soak.
  it.each(isSoak ? [undefined, commandFromSource] : [undefined])(
    'on threads, results equal those on local, by command %s',
    async (command) => {
      const words = ['run', 'sum.ts', '-n', '5', ...inTwo('threads'), '--json', '--', 'x']
      const answer = await spawnCli(words, { cwd: folder(), ...(command === undefined ? {} : { command }) })
      expect(answer.exitCode).toBe(0)
      expect(onlyObject(answer)).toMatchObject({ fabric: 'threads', results: Array(5).fill(ofSum('x')) })
    },
  )

  it('TypeScript without tsx runs where Node removes types, and is refused elsewhere with what to add', async () => {
    const [node, main] = command
    const without = [node, '--import', './test/support/without-package.mjs?tsx', main]
    const answer = await spawnCli(['run', 'examples/ring.ts', '-n', '2'], { command: without })
    const isStripping = 'typescript' in process.features && process.features.typescript !== false
    const refusal = /^ERR_PROGRAM: examples\/ring.ts: TypeScript needs .*: npm install tsx \(.*\)\n$/
    expect(answer).toMatchObject(
      isStripping ? { exitCode: 0 } : { exitCode: 2, stderr: expect.stringMatching(refusal) },
    )
  })

  it('.mjs and .mts programs run, and results are printed per rank', async () => {
    const [plain, module] = await Promise.all([
      run('plain.mjs', '-n', '3', '--processes', '5'),
      run('module.mts', '-n', '2'),
    ])
    expect(plain).toMatchObject({
      exitCode: 0,
      stdout: 'rank 0 returned 1\nrank 1 returned 1\nrank 2 returned 1\n',
    })
    expect(module).toMatchObject({ exitCode: 0, stdout: 'rank 0 returned 0\nrank 1 returned 1\n' })
    expect(module.stderr).toMatch(/^2 ranks on 1 process: /)
    expect(plain.stderr).toMatch(/^3 ranks on 5 logical processes of one thread, 2 of them without ranks: /)
  })

  it.each(daily(['plain.cjs', 'default.cjs', 'transpiled.cjs'], 3))(
    '%s: a CommonJS program runs',
    async (program) => {
      const stdout = 'rank 0 returned 0\nrank 1 returned 1\n'
      expect(await run(program, '-n', '2')).toMatchObject({ exitCode: 0, stdout })
    },
  )

  it.each(['local', 'threads', 'websocket'])('a forgotten await is reported on %s', async (fabric) => {
    const words = ['-n', '2', ...inTwo(fabric)]
    const [left, diagnosed, promise] = await Promise.all([
      run('left.mjs', ...words),
      run('left.mjs', ...words, '--diagnose'),
      run('not-awaited.mjs', ...words),
    ])
    const receive = 'rank 1 waits in recv(source 0, tag 8) on the world'
    expect(left).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(receive) })
    expect(left.stderr).toContain('[RANKWEAVE_UNFINISHED] RankweaveWarning: ')
    expect(diagnosed).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('ERR_UNFINISHED: ') })
    expect(diagnosed.stderr).toContain(`${receive}; called at left.mjs:1:`)
    expect(promise).toMatchObject({
      exitCode: 3,
      stderr: expect.stringMatching(/^ERR_TYPE: expected a number, got a promise/m),
    })
    expect(promise.stderr).toContain('[RANKWEAVE_PROMISE] RankweaveWarning: a promise became text')
  })

  it('timers that a program leaves open do not keep the command alive', async () => {
    expect(await run('lingers.mjs', '-n', '2')).toMatchObject({ exitCode: 0 })
  })

  it('more processes than ranks leave some processes without ranks', async () => {
    const answer = await run('plain.mjs', '-n', '2', '--fabric', 'threads', '--processes', '3', '--json')
    expect(onlyObject(answer)).toMatchObject({ ranks: 2, processes: 3, results: [0, 0] })
  })
})

describe('a program that exports hosted', () => {
  it.each(['local', 'threads'])(
    'runs once per process, and its lines begin with its first and last rank, on %s',
    async (fabric) => {
      const answer = await run('hosted.ts', '-n', '3', ...inTwo(fabric), '--tag-output', '--json', '--', 'x')
      expect(answer.exitCode).toBe(0)
      expect(onlyObject(answer)).toMatchObject({ results: [0, 1, 2].map((rank) => ['hosted', rank, 'x']) })
      expect(answer.stderr).toContain('[0-1] of 2\n')
      expect(answer.stderr).toContain('[2] of 1\n')
    },
  )

  it('runs its default export with --no-hosted', async () => {
    const answer = await run('hosted.ts', '-n', '3', '--no-hosted', '--json', '--', 'x')
    expect(onlyObject(answer)).toMatchObject({ results: [0, 1, 2].map((rank) => ['default', rank, 'x']) })
  })

  it('fails at the first of its ranks', async () => {
    const answer = await run('hosted.ts', '-n', '3', ...inTwo('threads'), '--', 'throw')
    expect(answer.exitCode).toBe(3)
    expect(answer.stderr).toMatch(/rank 2.*TypeError: out of cheese|TypeError: out of cheese.*rank 2/s)
  })

  it('may be a CommonJS module', async () => {
    const answer = await run('hosted.cjs', '-n', '3', '--processes', '2', '--json')
    expect(onlyObject(answer)).toMatchObject({ results: ['hosted 0', 'hosted 1', 'hosted 2'] })
  })

  it('is refused where it exports anything else under that name', async () => {
    const answer = await run('hosted-value.mjs', '-n', '3')
    expect(answer.exitCode).toBe(2)
    expect(answer.stderr).toContain(
      'expected as export hosted a function (worlds, args) => ..., got one of type number',
    )
  })
})

// Pipes, full disks and readers that leave: unit/launch/stdio.processes.test.ts.
describe('output', () => {
  it.each(['local', 'threads'])('--tag-output: whole lines, each with its rank, on %s', async (fabric) => {
    const { stdout, stderr } = await run('lines.mjs', '-n', '3', ...inTwo(fabric), '--tag-output')
    const lines = stdout.split('\n').filter((line) => line !== '')
    expect(lines).toHaveLength(9)
    for (const rank of [0, 1, 2]) {
      const own = lines.filter((line) => line.startsWith(`[${rank}] `)).map((line) => line.slice(4))
      expect(own).toEqual(['begins and ends', 'second line', 'unfinished é'])
      expect(stderr).toContain(`[${rank}] aside\n`)
    }
  })

  it('--json keeps output written while the program loads, runs and exits off standard output', async () => {
    const answer = await run('noisy.mjs', '-n', '2', '--json', '--tag-output')
    expect(Object.keys(onlyObject(answer))).toEqual(['ranks', 'processes', 'fabric', 'seconds'])
    for (const line of ['while loading', '[1] running', 'at the very end'])
      expect(answer.stderr).toContain(line)
  })

  it('--tag-output joins characters that arrive byte by byte', async () => {
    expect(await run('bytes.mjs', '-n', '2', '--tag-output')).toMatchObject({ stdout: '[0] é\n[1] é\n' })
  })
})

/** What the command reports, and where the program has the only frame that is printed. */
type Failing = readonly [program: string, fabric: string, code: string, message: string, place?: string]

/** Reported once, as one object, and with the frames of the program and no others. */
async function expectFailure(
  exitCode: number,
  [program, fabric, code, message, place]: Failing,
): Promise<void> {
  const answer = await run(program, '-n', '4', ...inTwo(fabric), '--json')
  expect(answer.exitCode).toBe(exitCode)
  const details = exitCode === 2 ? { file: program } : expect.any(Object)
  expect(onlyObject(answer)).toMatchObject({
    error: { code, message: expect.stringContaining(message), details },
  })
  expect(answer.stderr.match(new RegExp(`^${code}: `, 'gm'))).toHaveLength(1)
  if (place === undefined) return
  const frames = answer.stderr.split('\n').filter((line) => line.startsWith('    at '))
  expect(frames).toEqual([expect.stringContaining(place)])
}

/** Half of them in `npm test`. */
const titled = (rows: readonly Failing[]) =>
  daily(rows, 2).map((row) => [`${row[0]} on ${row[1]}: ${row[3]}`, row] as const)

describe("exit code 3: the program's world failed", () => {
  const failing: readonly Failing[] = [
    ['throws.ts', 'local', 'TypeError', 'rank 2 fails', 'throws.ts:3'],
    ['throws.ts', 'threads', 'TypeError', 'rank 2 fails', 'throws.ts:3'],
    ['dropped.ts', 'local', 'RangeError', 'from a dropped promise', 'dropped.ts:3'],
    ['aborts.mjs', 'local', 'ERR_WORLD_ABORTED', 'enough'],
    ['exits.mjs', 'threads', 'ERR_WORLD_ABORTED', 'process.exit(0)'],
    ['deadlock.mjs', 'local', 'ERR_DEADLOCK', 'rank'],
    ['exits-later.mjs', 'threads', 'ERR_WORLD_ABORTED', 'process.exit(5)'],
    ['stray.mjs', 'local', 'RangeError', 'from a timer'],
    ['uncaught.mjs', 'threads', 'ERR_PEER_LOST', 'RangeError: not caught'],
    ['exits.mjs', 'local', 'ERR_WORLD_ABORTED', 'process.exit(0)'],
    ['never.mjs', 'threads', 'ERR_DEADLOCK', 'nothing is left'],
    ['never.mjs', 'local', 'ERR_DEADLOCK', 'nothing is left'],
    ['never-listens.mjs', 'local', 'ERR_DEADLOCK', 'nothing is left'],
    ['never-listens.mjs', 'threads', 'ERR_DEADLOCK', 'nothing is left'],
    ['misuses.mjs', 'local', 'ERR_RANK', '', 'misuses.mjs:2'],
    ['dropped.ts', 'threads', 'ERR_PEER_LOST', 'from a dropped promise', 'dropped.ts:3'],
    ['returns-function.mjs', 'threads', 'ERR_CLONE', 'the value that rank 0 returned'],
  ]
  it.each(titled(failing))('%s', (_, row) => expectFailure(3, row))

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
    const answer = await spawnCli(['run', 'waits.mjs', '-n', '2', ...inTwo(fabric)], {
      cwd: folder(),
      onOutput: (_, kill) => kill(signal),
    })
    expect(answer).toMatchObject({ exitCode: 3, stdout: 'waiting\n' })
    expect(answer.stderr.match(/interrupted/g)).toHaveLength(1)
    expect(answer.stderr).toMatch(new RegExp(`^ERR_ABORTED: .*${signal}$`, 'm'))
  })
})

describe('who waits for what', () => {
  it.skipIf(process.platform === 'win32')('is printed on SIGUSR2 (no such signal on Windows)', async () => {
    const answer = await spawnCli(['run', 'waits.mjs', '-n', '2'], {
      cwd: folder(),
      onOutput: (_, kill) => kill('SIGUSR2'),
      onError: (text, kill) => text.includes('who waits') && kill('SIGINT'),
    })
    expect(answer).toMatchObject({ exitCode: 3, stdout: 'waiting\n' })
    expect(answer.stderr).toMatch(/^who waits for what, 2 ranks on 1 process\n {2}\d blocked, \d running/)
  })

  it('is printed --report-after some seconds', async () => {
    const argv = ['run', 'waits.mjs', '-n', '2', ...inTwo('threads'), '--report-after', '0.01', '--json']
    const answer = await spawnCli(argv, {
      cwd: folder(),
      onError: (text, kill) => text.includes('who waits') && kill('SIGINT'),
    })
    expect(answer.exitCode).toBe(3)
    expect(answer.stderr).toContain('who waits for what, 2 ranks on 2 processes\n')
    expect(onlyObject(answer)).toMatchObject({ error: { code: 'ERR_ABORTED' } })
  })
})

describe('exit code 2: there is no program to run', () => {
  const failing: readonly Failing[] = [
    ['no-default.mjs', 'threads', 'ERR_PROGRAM', 'no default export'],
    ['not-a-function.mjs', 'local', 'ERR_PROGRAM', 'a default export of type number'],
    ['fails-to-load.ts', 'threads', 'ERR_PROGRAM', 'not today', 'fails-to-load.ts:1'],
    ['broken.ts', 'local', 'ERR_PROGRAM', 'failed to load'],
    ['exits-early.mjs', 'local', 'ERR_PROGRAM', 'process.exit(0)'],
    ['exits-early.mjs', 'threads', 'ERR_PROGRAM', 'process.exit(0)'],
    ['never-loads.mjs', 'threads', 'ERR_PROGRAM', 'nothing is left'],
    ['never-loads.mjs', 'local', 'ERR_PROGRAM', 'nothing is left'],
    ['stray-load.mjs', 'local', 'ERR_PROGRAM', 'from a timer'],
    ['other.cts', 'local', 'ERR_PROGRAM', 'expected a .ts, .mts, .js, .mjs, .cjs file'],
    ['names.cjs', 'local', 'ERR_PROGRAM', 'a default export of type object'],
    ['fails-to-load.ts', 'local', 'ERR_PROGRAM', 'not today', 'fails-to-load.ts:1'],
  ]
  it.each(titled(failing))('%s', (_, row) => expectFailure(2, row))

  it.each([
    ['broken.ts', 'local', 2],
    ['returns-function.mjs', 'threads', 3],
  ] as const)('%s: no frames of the library or the compiler', async (program, fabric, exitCode) => {
    const answer = await run(program, '-n', '2', ...inTwo(fabric))
    expect(answer.exitCode).toBe(exitCode)
    expect(answer.stderr).not.toMatch(/^ {4}at /m)
  })

  it('a missing program is one line: no frames of the library', async () => {
    const stderr = "ERR_PROGRAM: there is no file 'missing.ts'\n"
    expect(await run('missing.ts', '-n', '4', '--fabric', 'threads')).toEqual({
      exitCode: 2,
      stdout: '',
      stderr,
    })
  })

  it('a program that only one thread cannot load ends with exit code 2', async () => {
    const answer = await run('one-thread.mjs', '-n', '4', '--fabric', 'threads', '--processes', '3')
    expect(answer.exitCode).toBe(2)
    expect(answer.stderr).toMatch(
      /^ERR_PROGRAM: one-thread.mjs failed to load: Error: not in this one\n {4}at file:.*one-thread.mjs:3:\d+\n$/,
    )
  })

  it.each([
    [['--processes', '0'], 'an integer from 1 to 4096'],
    [['--processes', '65'], 'expected processes, an integer from 1 to 64'],
    [['--report-after', 'soon'], '--report-after: expected seconds from 0 to 2147483, got "soon"'],
  ])('options that are refused: %j', async (words, message) => {
    const answer = await cli('run', join(folder(), 'plain.mjs'), '-n', '4', '--fabric', 'threads', ...words)
    expect(answer).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(message) })
  })
})
