import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli, onlyObject } from '../run-cli.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rankweave-study-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const machine = ['--machine', 'cluster:nodes=4,cores=4,profile=simgrid-fast']
const few = ['--bytes', '4,4096', '--strategies', 'cartesian:windows=3/3,order=1.0']

describe('study', () => {
  it('writes Markdown, and reports the fastest strategy of each length', async () => {
    const file = join(folder, 'study.md')
    const answer = await cli('study', 'moore:4x4:r=1', ...machine, ...few, '-o', file)
    expect(answer).toMatchObject({ exitCode: 0, stderr: `wrote ${file}\n` })
    expect(answer.stdout).toMatch(/^moore:4x4:r=1 on cluster.*2 strategies/)
    const page = readFileSync(file, 'utf8')
    expect(page).toMatch(/^\| direct +\| +128 \| +8 \|/m)
    expect(page).toContain('(SIMULATED: on cluster:nodes=4,cores=4,profile=simgrid-fast')
  })

  it('prints one object', async () => {
    const object = onlyObject(await cli('study', 'moore:4x4:r=1', ...machine, ...few, '--json'))
    expect(object).toMatchObject({ bytes: [4, 4096], measurements: null, leftOut: [] })
  })

  it.each([
    [['moore:4x4:r=1'], 'ERR_USAGE'],
    [['moore:4x4:r=1', '--machine', 'cluster:nodes=4,cores=4'], 'ERR_MACHINE'],
    [['moore:4x4:r=1', '--machine', 'nebula'], 'ERR_MACHINE'],
    [['moore:5x5:r=1', ...machine], 'ERR_MACHINE'],
    [['er:8:d=0:seed=1', ...machine], 'ERR_TOPOLOGY'],
    [['er:1:d=0.5:seed=1', ...machine], 'ERR_TOPOLOGY'],
    [['moore:4x4:r=1', ...machine, '--bytes', '4,x'], 'ERR_USAGE'],
    [['moore:4x4:r=1', ...machine, '--strategies', 'fast'], 'ERR_STRATEGY'],
    [['nowhere:4', ...machine], 'ERR_SPEC'],
  ])('%j: %s', async (words, code) => {
    const answer = await cli('study', ...words, '--json')
    expect(answer.exitCode).toBe(2)
    expect(onlyObject(answer)).toMatchObject({ error: { code } })
  })
})
