import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli, onlyObject } from './run-cli.js'

let folder: string
const at = (name: string) => join(folder, name)
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rankweave-split-'))
  writeFileSync(at('ranks.txt'), '4 7\n- 0\n4 -1\n9\n')
  writeFileSync(at('bad.txt'), '4 7\n-2 0\n4 -1\n9\n')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('split', () => {
  it('splits by parallel sort on many processes, and says what it cost', async () => {
    const answer = await cli(
      ...['split', '-n', '500', '--processes', '12', '--algorithm', 'parallel-sort', '--sorters', '5'],
      ...['--table-group', '3', '--json'],
    )
    expect(answer.exitCode).toBe(0)
    const object = onlyObject(answer)
    expect(object).toMatchObject({
      ranks: 500,
      communicators: 1,
      algorithm: 'parallel-sort',
      table: 'distributed',
      sorters: 5,
      tableGroup: 3,
      fabric: 'local',
      verified: true,
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

  it('takes colors and keys from a file, and explains', async () => {
    const { exitCode, stdout } = await cli('split', '-n', '4', '--file', at('ranks.txt'), '--explain')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/communicators\s+2\n/)
    expect(stdout).toMatch(/split\s+conventional, /)
    expect(stdout).toMatch(/collect/)
  })

  it.each([
    { file: 'bad.txt', said: /ERR_FILE.*line 2: expected a color/s },
    { file: 'none.txt', said: /ERR_FILE.*cannot be read/s },
  ])('refuses $file', async ({ file, said }) => {
    const { exitCode, stderr } = await cli('split', '-n', '4', '--file', at(file))
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(said)
  })

  it.each(['--sorters', '--table-group'])('refuses %s that the processes cannot hold', async (option) => {
    const { exitCode, stderr } = await cli('split', '-n', '10', '--processes', '2', option, '3')
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/ERR_ARGUMENT.*from 1 to 2, got 3/)
  })

  it('refuses tables that are too large before the split', async () => {
    const { exitCode, stderr } = await cli(
      ...['split', '-n', '1000', '--processes', '4', '--max-table-bytes', '100'],
    )
    expect(exitCode).toBe(3)
    expect(stderr).toMatch(/ERR_TABLE_SIZE/)
  })
})
