import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Communicator, run } from 'rankweave'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { SplitSummary } from '../../../../src/cli/commands/split.js'
import splitProgram, { hosted, splitProblem } from '../../../../src/cli/program/split-program.js'
import type { SplitOptions } from '../../../../src/comm/split/split-plan.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json, onlyObject, refused, typed } from '../run-cli.js'

const folder = ownFolder('split')
const at = (name: string) => resolve(folder, name)
beforeAll(() => {
  writeFileSync(at('ranks.txt'), '4 7\n- 0\n4 -1\n9\n')
  writeFileSync(at('bad.txt'), '4 7\n-2 0\n4 -1\n9\n')
  writeFileSync(at('one.txt'), '-\n-\n-\n3 1\n')
  writeFileSync(at('none.txt'), '-\n- 5\n')
  writeFileSync(at('gap.txt'), '4 7\n\n1\n1\n')
  writeFileSync(at('long.txt'), '4 7 1\n1\n1\n1\n')
  writeFileSync(at('wide.txt'), '4 2147483648\n1\n1\n1\n')
})

describe('split', () => {
  it('splits by parallel sort on many processes and reports the cost', async () => {
    const answer =
      await cli`split -n 500 --processes 12 --algorithm parallel-sort --sorters 5 --table-group 3 --json`
    expect(answer.exitCode).toBe(0)
    const object = onlyObject(answer)
    expect(object).toMatchObject({
      ...{ ranks: 500, communicators: 1, algorithm: 'parallel-sort', table: 'distributed', sorters: 5 },
      ...{ tableGroup: 3, fabric: 'local', verified: true },
    })
    expect(Object.keys(object)).toEqual(
      expect.arrayContaining(['seconds', 'phases', 'messages', 'bytesPerProcess']),
    )
    expect(Object.keys(object['phases'] as object).slice(0, 4)).toEqual([
      'collect',
      'splitters',
      'exchange',
      'merge',
    ])
  })

  it('reads colors and keys from a file, and explains the phases', async () => {
    const { exitCode, stdout } = await cli`split -n 4 --file ${at('ranks.txt')} --explain`
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/communicators\s+2\n/)
    expect(stdout).toMatch(/algorithm\s+conventional, /)
    expect(stdout).toMatch(/collect +[0-9.]+ ms, 0 messages, 0 bytes/)
  })

  it('--explain reports messages per phase, sorters and lookups', async () => {
    const words = typed`split -n 60 --processes 6 --table distributed --explain`
    const { stdout } = await cli(...words)
    expect(stdout).toMatch(/sorters +6, one rank table per 6 processes/)
    expect(stdout).toMatch(/ exchange +[0-9.]+ ms, 30 messages, [0-9,]+ bytes/)
    expect(stdout).toMatch(/lookups +[1-9][0-9]* rows requested in [1-9][0-9]* messages, [0-9]+ cache hits?/)
    const { explained, phases, messages } = (await json`${words}`) as unknown as SplitSummary
    expect((await cli`split -n 9 --explain`).stdout).not.toContain('sorters')
    expect(Object.keys(explained!)).toEqual(Object.keys(phases))
    expect(Object.values(explained!).reduce((sum, cost) => sum + cost.messages, 0)).toBe(messages)
  })

  it('counts the messages of processes without members', async () => {
    const outcome = await json`split -n 4 --processes 4 --file ${at('one.txt')}`
    // Four processes, two stages of an allgather.
    expect(outcome).toMatchObject({ communicators: 1, messages: 8, verified: true })
    const none = await json`split -n 2 --file ${at('none.txt')}`
    expect(none).toMatchObject({ communicators: 0, algorithm: 'conventional', table: null, verified: true })
  })

  it.each([
    { file: 'bad.txt', said: /ERR_FILE.*line 2: expected a color/s },
    { file: 'absent.txt', said: /ERR_FILE.*absent\.txt/s },
    { file: 'one.txt', ranks: '5', said: /ERR_FILE.*expected 5 lines, one per rank, got 4/s },
    { file: 'gap.txt', said: /ERR_FILE.*line 2: expected a color/s },
    { file: 'long.txt', said: /ERR_FILE.*line 1: expected a color/s },
    // A device without an end is read to the bound.
    { file: '/dev/zero', said: /ERR_FILE.*expected UTF-8 text of at most 256 bytes/s },
    { file: 'wide.txt', said: /ERR_FILE.*line 1: expected a color.*got '2147483648'/s },
  ])('rejects $file', async ({ file, said, ranks = '4' }) => {
    expect(await cli`split -n ${ranks} --file ${at(file)}`).toMatchObject(refused(said))
  })

  it.each(typed`--sorters --table-group`)(
    'rejects %s larger than the number of processes',
    async (option) => {
      expect(await cli`split -n 10 --processes 2 ${option} 3`).toMatchObject(
        refused(/ERR_ARGUMENT.*from 1 to 2, got 3/),
      )
    },
  )

  it('rejects tables larger than --max-table-bytes before the split', async () => {
    expect(await cli`split -n 1000 --processes 4 --max-table-bytes 100`).toMatchObject(
      refused(/ERR_TABLE_SIZE/),
    )
  })
})

/** What a rank passes instead of its color and key. */
type Alter = (color: number | null, key: number) => [number | null, number]

/** Lets splits pass on other colors and keys. */
function alterSplits(alter: Alter): void {
  const original = Communicator.prototype.split
  vi.spyOn(Communicator.prototype, 'split').mockImplementation(function (
    this: Communicator,
    color: number | null,
    key = 0,
    options?: SplitOptions,
  ) {
    const [otherColor, otherKey] = alter(color, key)
    return original.call(this, otherColor as number, otherKey, options)
  } as typeof original)
}

describe('the check of rankweave split', () => {
  afterEach(() => vi.restoreAllMocks())

  it.each<[string, boolean, Alter]>([
    ['the given colors and keys', true, (color, key) => [color, key]],
    ['the order reversed', false, (color, key) => [color, -key]],
    ['one color for all ranks', false, (_, key) => [0, key]],
    ['other numbers for the same colors', true, (color, key) => [color === null ? null : 9 - color, key]],
    ['one rank in another group', false, (color, key) => [key === 0 ? 1 : color, key]],
    ['no rank a member', false, (_, key) => [null, key]],
  ])('%s: verified is %s', async (_, verified, alter) => {
    const input = {
      kind: 'listed' as const,
      color: Int32Array.from({ length: 12 }, (_, rank) => (rank === 5 ? -1 : rank % 2)),
      key: Int32Array.from({ length: 12 }, (_, rank) => (rank * 7) % 12),
    }
    const problem = splitProblem(input, { table: 'distributed', selfHostRows: 0 })
    alterSplits(alter)
    const shares = await run(splitProgram, { ranks: 12, processes: 3, args: problem, hosted })
    const found = shares.filter((share) => share !== undefined)
    expect(found).toHaveLength(3)
    expect(found.every((share) => share.verified)).toBe(verified)
  })
})
