import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ownFolder } from '../../../support/temporary-folder.js'
import { elementsOf } from '../../../support/well-formed-xml.js'
import { cli, json, onlyObject, typed } from '../run-cli.js'

const folder = ownFolder('study')

const machine = typed`--machine cluster:nodes=4,cores=4,profile=simgrid-fast`
const few = typed`--bytes 4,4096 --strategies cartesian:windows=3/3,order=1.0`

describe('study', () => {
  it('writes Markdown, and reports the fastest strategy of each length', async () => {
    const file = join(folder, 'README.md')
    const answer = await cli`study moore:4x4:r=1 ${machine} ${few} -o ${file}`
    expect(answer).toMatchObject({ exitCode: 0, stderr: `wrote ${file}\n` })
    expect(answer.stdout).toMatch(/^moore:4x4:r=1 on cluster.*2 strategies\n/)
    expect(answer.stdout).toContain(
      'profile simgrid-fast (costs given, 8 of them assumed); planning is measured',
    )
    expect(answer.stdout).toMatch(/fastest of those studied +simulated .* pays after\n/)
    expect(answer.stdout).toMatch(/ us +[\d.]+ +[\d.]+ +(?:never|[\d,]+ starts?)\n/)
    expect(answer.stdout).toMatch(/within 5% of the fastest compared in \d+ of 12 cases/)
    const page = readFileSync(file, 'utf8')
    expect(page).toMatch(/^\| direct +\| +128 \| +8 \|/m)
    expect(page).toContain(
      'what the profile simgrid-fast (costs given, 8 of them assumed) says: parameters of SimGrid',
    )
    expect(page).toContain('(SIMULATED: on cluster:nodes=4,cores=4,profile=simgrid-fast')
  })

  it('writes one HTML page', async () => {
    const file = join(folder, 'study.html')
    await cli`study moore:4x4:r=1 ${machine} ${few} -o ${file}`
    const page = readFileSync(file, 'utf8')
    expect(page).toMatch(/^<!DOCTYPE html>/)
    expect(elementsOf(page).filter((name) => name === 'svg')).toHaveLength(2)
  })

  it('writes a folder of pages, pictures and the object, measured on a fabric too', async () => {
    const output = join(folder, 'both', 'deep')
    const words = typed`study moore:4x4:r=1 ${machine} ${few} --fabric local --runs 1`
    const answer = await cli`${words} -o ${output}`
    expect(answer).toMatchObject({ exitCode: 0, stderr: `wrote ${output}\n` })
    const names = ['measured-time.svg', 'messages.svg', 'simulated-time.svg']
    expect(readdirSync(output).sort()).toEqual(['README.md', ...names, 'study.html', 'study.json'])
    const page = readFileSync(join(output, 'README.md'), 'utf8')
    for (const name of names) {
      elementsOf(readFileSync(join(output, name), 'utf8'))
      expect(page).toContain(`](${name})`)
    }
    const { measurements } = JSON.parse(readFileSync(join(output, 'study.json'), 'utf8'))
    expect(measurements).toMatchObject({
      fabric: 'local',
      processes: 1,
      runs: 1,
      bytes: [4, 4096],
      tooLong: [],
    })
    for (const { times } of measurements.strategies)
      for (const { medianUs } of times) expect(medianUs).toBeGreaterThan(0)
  })

  it('of a matrix is for as many ranks as the machine has cores', async () => {
    const words = typed`study test/matrices/ash292.mtx ${machine} --bytes 8 --strategies direct`
    const { subject } = (await json`${words}`) as { subject: { ranks: number } }
    // 292 columns: at most 19 rows of B on a rank.
    expect(subject).toMatchObject({ product: { rows: 19, columns: 8, bytes: 19 * 8 * 8 } })
    const { stdout } = await cli`${words} -o ${join(folder, 'matrix.md')}`
    expect(stdout).toContain('8 columns of doubles make blocks of up to 1,216 bytes\n')
    expect(subject).toMatchObject({ ranks: 16, topology: 'mtx:test/matrices/ash292.mtx:ranks=16' })
  })

  it('prints one object', async () => {
    const object = await json`study moore:4x4:r=1 ${machine} ${few}`
    expect(object).toMatchObject({ bytes: [4, 4096], measurements: null, leftOut: [] })
  })

  it.each([
    [['moore:4x4:r=1'], 'ERR_USAGE'],
    [typed`moore:4x4:r=1 --machine cluster:nodes=4,cores=4`, 'ERR_MACHINE'],
    [typed`moore:4x4:r=1 --machine nebula`, 'ERR_MACHINE'],
    [['moore:5x5:r=1', ...machine], 'ERR_MACHINE'],
    [['er:8:d=0:seed=1', ...machine], 'ERR_TOPOLOGY'],
    [['er:1:d=0.5:seed=1', ...machine], 'ERR_TOPOLOGY'],
    [typed`moore:4x4:r=1 ${machine} --bytes 4,x`, 'ERR_USAGE'],
    [typed`moore:4x4:r=1 ${machine} --strategies fast`, 'ERR_STRATEGY'],
    [['nowhere:4', ...machine], 'ERR_SPEC'],
    [[...machine], 'ERR_USAGE'],
    [typed`moore:4x4:r=1 ${machine} --fabric smoke`, 'ERR_USAGE'],
    [typed`moore:4x4:r=1 ${machine} -o /dev/null/x`, 'ERR_FILE'],
    [['nowhere.mtx', ...machine], 'ERR_FILE'],
  ])('%j: %s', async (words, code) => {
    const answer = await cli`study ${words} --json`
    expect(answer.exitCode).toBe(2)
    expect(onlyObject(answer)).toMatchObject({ error: { code } })
  })
})

it.each<[string, readonly string[], string]>([
  [
    'of 33 lengths',
    typed`--bytes ${Array.from({ length: 33 }, (_, i) => i).join()}`,
    '--bytes: expected at most 32 ',
  ],
  [
    'of many lengths',
    typed`--bytes ${Array.from({ length: 99_999 }, (_, i) => i).join()}`,
    '--bytes: expected at',
  ],
  [
    'of a number of a million digits',
    typed`--bytes ${'9'.repeat(1_000_000)}`,
    '--bytes: expected at most 32 ',
  ],
  ['of no time to plan', typed`--plan-seconds 0`, '--plan-seconds: expected seconds above 0, got 0'],
  ['of runs without a fabric', typed`--runs 7`, '--runs is for --fabric'],
  ['of processes without a fabric', typed`--processes 2`, '--processes is for --fabric'],
])('a study %s is refused by the name of the option, in few words', async (_, words, message) => {
  const { exitCode, stderr } = await cli`study moore:4x4:r=1 ${machine} ${words}`
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`ERR_USAGE: ${message}`)])
  expect(stderr.length).toBeLessThan(500)
})

it('a study of a strategy with more radices than ranks have digits is refused', async () => {
  const strategy = `routed:radices=${'2.'.repeat(99_999)}2`
  const answer = await cli`study moore:4x4:r=1 ${machine} --bytes 4 --strategies ${strategy}`
  expect(answer).toMatchObject({ exitCode: 2, stdout: '' })
  expect(answer.stderr).toContain('ERR_STRATEGY: routed: expected at most 24 radices, got 100000')
})
