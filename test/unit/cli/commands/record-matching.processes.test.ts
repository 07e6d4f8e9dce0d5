import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../../src/base/random.js'
import { readTraceLines } from '../../../../src/messages/matching-queues/matching-trace.js'
import { callRecordKind } from '../../../../src/shim/recorded-matching.js'
import { operationWords, type RecordFields, recordBytes } from '../../../support/recorded-calls.js'
import { interruptedBy, scriptedLauncher } from '../../../support/scripted-launcher.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'
import { cli, onlyObject } from '../run-cli.js'
import { spawnCli } from '../spawn-cli.js'

const { header, run, communicator, send, post, done, bound, end } = callRecordKind

/** Rank 0 receives from rank 1 what was sent before. */
const receiver: readonly RecordFields[] = [
  [header, 0, 2, 0, 2, 0],
  [run, 0, 0, 0, 0, 12],
  [communicator, 77, 0, 0, 2, 0],
  [post, 500, 0, 1, 4, 8],
  [done, 600, 0, 1, 4, 0],
  [end, 900, 0, 0, 0, 0],
]
const sender: readonly RecordFields[] = [
  [header, 0, 2, 1, 2, 0],
  [run, 0, 0, 0, 0, 12],
  [communicator, 77, 0, 1, 2, 0],
  [send, 100, 0, 0, 3, 8],
  [send, 200, 0, 0, 4, 8],
  [bound, 700, 0, 0, 0, 0],
  [end, 900, 0, 3, 0, 0],
]

/** Near a bound, or anything. */
function wordOf(random: () => number): number {
  const bounds = [-2, -1, 0, 1, 2, 3, 11, 12, 65_535, 65_536, 2 ** 31 - 1, -(2 ** 31)]
  return random() < 0.7
    ? bounds[Math.floor(random() * bounds.length)]
    : Math.floor((random() - 0.5) * 2 ** 32)
}

/** Without taking its space. */
function longFile(file: string): void {
  writeFileSync(file, '')
  truncateSync(file, 2 ** 31)
}

describe('rankweave record --matching', () => {
  const folder = temporaryFolder('record-matching')

  /** A script in place of mpirun: it writes what two processes would record, then runs `rest`. */
  function launcherThat(rest: string): readonly string[] {
    const made = join(folder(), 'made')
    mkdirSync(made, { recursive: true })
    for (const [rank, records] of [receiver, sender].entries())
      writeFileSync(join(made, `calls-${rank}.bin`), recordBytes(records))
    const samples = '{"format":"rankweave-queues","version":1,"rank":0,"offered":true,"samples":[[1,0,3,2]]}'
    writeFileSync(join(made, 'queues-0.json'), samples)
    writeFileSync(join(folder(), 'library.so'), '')
    const recording = `RANKWEAVE_SHIM=matching:*) cp ${made}/* "\${word#*:}" ;;
  RANKWEAVE_SHIM_MATCHING_OPERATIONS=*) echo "$word" > "${folder()}/most" ;;`
    const path = scriptedLauncher(folder(), recording, rest)
    return ['--library', join(folder(), 'library.so'), '--', path, './program']
  }

  const wordsIn = (path: string) => {
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    return operationWords(readTraceLines(lines).operations)
  }

  const summary = (path: string) => ({
    ...{ folder: path, ranks: 2, operations: 3, receives: 1, inferredArrivals: 2, otherMatches: 0 },
    longest: { posted: { rank: 0, length: 0 }, unexpected: { rank: 0, length: 2 } },
    ...{ isBounded: true, notEnded: [], lostMessages: 0, leftOut: 3, sampled: { posted: 2, unexpected: 3 } },
  })

  it('writes a trace per rank in place of old ones, and says what is in them', async () => {
    const path = join(folder(), 'traces')
    mkdirSync(path)
    for (const old of ['rank-0.jsonl', 'rank-7.jsonl', 'calls-9.bin', 'notes.txt'])
      writeFileSync(join(path, old), 'old')
    const words = [
      'record',
      '--json',
      '--matching',
      '-o',
      path,
      '--operations',
      '12',
      ...launcherThat('exit 0'),
    ]
    expect(onlyObject(await cli(...words))).toEqual(summary(path))
    expect(readdirSync(path).sort()).toEqual(['notes.txt', 'queues-0.json', 'rank-0.jsonl', 'rank-1.jsonl'])
    expect(wordsIn(join(path, 'rank-0.jsonl'))).toEqual(['arrive 0:1/3', 'arrive 0:1/4', 'post 0:1/4'])
    expect(wordsIn(join(path, 'rank-1.jsonl'))).toEqual([])
    expect(JSON.parse(readFileSync(join(path, 'queues-0.json'), 'utf8'))).toMatchObject({ contexts: [0] })
    expect(readFileSync(join(folder(), 'most'), 'utf8')).toBe('RANKWEAVE_SHIM_MATCHING_OPERATIONS=12\n')
  })

  it('keeps the records of a program that fails, and makes traces of them without a program', async () => {
    const path = join(folder(), 'failed')
    const refused = await cli('record', '--matching', '-o', path, ...launcherThat('exit 5'))
    expect(refused.exitCode).toBe(3)
    expect(refused.stderr).toContain(
      `ended with exit code 5, so no traces are made; rankweave record --matching -o ${path} makes them of what is recorded`,
    )
    expect(readdirSync(path).sort()).toEqual(['calls-0.bin', 'calls-1.bin', 'queues-0.json'])
    const made = await cli('record', '--matching', '-o', path)
    expect(made).toMatchObject({ exitCode: 0, stderr: '' })
    expect(made.stdout).toContain('bound')
    expect(existsSync(join(path, 'calls-0.bin'))).toBe(true)
    expect(onlyObject(await cli('record', '--json', '--matching', '-o', path))).toEqual(summary(path))
  })

  it('ends the launcher by a signal, and keeps the records', async () => {
    const path = join(folder(), 'ended')
    const launcher = launcherThat(interruptedBy('TERM', 1))
    const answer = await spawnCli(['record', '--matching', '-o', path, ...launcher])
    expect(answer.exitCode).toBe(143)
    expect(answer.stderr).toMatch(
      /was interrupted by SIGTERM, so no traces are made; (npx )?rankweave record/,
    )
    expect(readdirSync(path).sort()).toEqual(['calls-0.bin', 'calls-1.bin', 'queues-0.json'])
    const { ranks } = onlyObject(await cli('record', '--json', '--matching', '-o', path)) as { ranks: number }
    expect(ranks).toBe(2)
  })

  it('does not promise traces of a program that has recorded nothing', async () => {
    const path = join(folder(), 'unrecorded')
    const launcher = launcherThat(`rm "${path}"/*; exit 5`)
    const { exitCode, stderr } = await cli('record', '--matching', '-o', path, ...launcher)
    expect(exitCode).toBe(3)
    expect(stderr).toContain('ended with exit code 5, so nothing is recorded')
  })

  it('names its own setting for an unknown launcher', async () => {
    const path = join(folder(), 'launcher')
    const { stderr } = await cli('record', '--matching', '-o', path, '--', 'true')
    expect(stderr).toContain('set LD_PRELOAD and RANKWEAVE_SHIM=matching:FOLDER for the processes')
  })

  it.each([
    [
      'traces are made',
      (path: string) => writeFileSync(join(path, 'rank-0.jsonl'), ''),
      'its traces are made, for rankweave match',
    ],
    ['nothing is recorded', () => {}, 'ERR_SHIM: expected records of an MPI program in'],
    [
      'a rank is missing',
      (path: string) => writeFileSync(join(path, 'calls-0.bin'), recordBytes(receiver)),
      'ERR_FILE',
    ],
    ['a file is damaged', (path: string) => writeFileSync(join(path, 'calls-0.bin'), 'damaged'), 'ERR_FILE'],
  ])('refuses a folder where %s', async (title, prepare, message) => {
    const path = join(folder(), title)
    mkdirSync(path)
    prepare(path)
    const { exitCode, stderr } = await cli('record', '--matching', '-o', path)
    expect(exitCode).toBe(2)
    expect(stderr).toContain(message)
  })

  it.each([
    ['calls-1.bin', 'a pipe', (file: string) => spawnSync('mkfifo', [file]), 'got a pipe or device'],
    ['calls-1.bin', 'endless', (file: string) => symlinkSync('/dev/zero', file), 'got a pipe or device'],
    ['calls-1.bin', 'a directory', (file: string) => mkdirSync(file), 'got a directory'],
    ['calls-1.bin', 'too long', longFile, '--operations permits more'],
    ['queues-0.json', 'a pipe', (file: string) => spawnSync('mkfifo', [file]), 'got a pipe or device'],
    ['queues-0.json', 'too long', longFile, 'expected at most'],
    [
      'queues-0.json',
      'of no samples',
      (file: string) => writeFileSync(file, '{"samples":[null]}'),
      'expected samples of queues',
    ],
  ])('refuses a file %s that is %s', async (name, kind, prepare, message) => {
    const path = join(folder(), `${name} ${kind}`)
    mkdirSync(path)
    writeFileSync(join(path, 'calls-0.bin'), recordBytes(receiver))
    if (name !== 'calls-1.bin') writeFileSync(join(path, 'calls-1.bin'), recordBytes(sender))
    prepare(join(path, name))
    const { exitCode, stderr } = await cli('record', '--matching', '-o', path)
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`ERR_FILE: cannot read '${join(path, name)}'`)
    expect(stderr).toContain(message)
  })

  it('makes traces of changed records, or refuses them and names their file', async () => {
    const path = join(folder(), 'changed')
    mkdirSync(path)
    const random = seededRandom(7)
    for (let round = 0; round < 150; round++) {
      for (const [rank, records] of [receiver, sender].entries()) {
        const bytes = recordBytes(records)
        const words = new DataView(bytes.buffer)
        for (let change = 0; change < 2; change++)
          words.setInt32(4 * Math.floor(random() * (bytes.length / 4)), wordOf(random), true)
        writeFileSync(join(path, `calls-${rank}.bin`), bytes)
      }
      const { exitCode, stderr } = await cli('record', '--matching', '-o', path)
      if (exitCode === 0) continue
      expect(stderr).toMatch(/ERR_FILE: cannot read '.*calls-\d+\.bin'/)
    }
  })

  it('refuses a folder that cannot be made', async () => {
    const { stderr } = await cli('record', '--matching', '-o', '/proc/x', ...launcherThat('exit 0'))
    expect(stderr).toContain("ERR_FILE: cannot write '/proc/x'")
  })

  it('refuses options of the other kind of recording', async () => {
    const refused = async (...words: readonly string[]) => (await cli('record', ...words)).stderr
    expect(await refused('--operations', '5', '--', 'mpirun', './program')).toContain(
      '--operations: expected --matching',
    )
    expect(await refused('--matching', '--operations', '0')).toContain('--operations: expected an integer')
    expect(await refused()).toContain('expected a command that starts the program')
  })
})
