import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json, onlyObject, typed } from '../run-cli.js'

const folder = ownFolder('cli')

describe('files', () => {
  it('plan -o - writes the plan to standard output and the report to standard error', async () => {
    const answer = await cli`plan moore:8x8:r=1 -o -`
    const file = join(folder, 'stdout.jsonl')
    writeFileSync(file, answer.stdout)
    expect(answer.stderr).toMatch(/^moore:8x8:r=1: common-neighbor.*\n {2}friend groups/)
    expect((await cli`verify ${file}`).exitCode).toBe(0)
    const both = await cli`plan moore:8x8:r=1 -o - --json`
    expect(onlyObject(both)).toMatchObject({ error: { code: 'ERR_USAGE' } })
  })

  it('plans and topologies are compressed if their name ends in .gz, and read like others', async () => {
    const [plan, matrix] = [join(folder, 'plan.jsonl.gz'), join(folder, 'edges.csv.gz')]
    expect((await cli`plan moore:8x8:r=1 -o ${plan}`).exitCode).toBe(0)
    expect([...readFileSync(plan).subarray(0, 2)]).toEqual([0x1f, 0x8b])
    expect((await cli`verify ${plan} --topology moore:8x8:r=1`).exitCode).toBe(0)
    await cli`topology moore:8x8:r=1 --format csv -o ${matrix}`
    expect(await json`topology csv:${matrix}`).toMatchObject({ edges: 512 })
    writeFileSync(matrix, readFileSync(matrix).subarray(0, 300))
    const cut = await cli`topology csv:${matrix}`
    expect(cut).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('the file is truncated') })
  })
})

describe('topology', () => {
  it('is agnostic without a machine', async () => {
    const object = await json`topology moore:64x64:r=1`
    expect(object).toMatchObject({
      ranks: 4096,
      edges: 32768,
      degree: { min: 8, mean: 8, max: 8 },
      density: 8 / 4095,
      hyperedges: { '2': 8, '4': 0 },
    })
  })

  it('counts groups within nodes with a machine', async () => {
    const machine = typed`--machine cluster:nodes=103,cores=40`
    const object = await json`topology moore:64x64:r=2 ${machine} --k 2,4,8`
    const hyperedges = object['hyperedges'] as Record<string, number>
    expect(Object.keys(hyperedges)).toEqual(['2', '4', '8'])
    expect(hyperedges['2']).toBeCloseTo(7.5, 2)
    expect(hyperedges['4']).toBeCloseTo(7.1, 1)
    expect(hyperedges['8']).toBe(0)
  })

  it('prints a table with symmetry, grid and best k', async () => {
    const { exitCode, stdout } = await cli`topology cart:4x4:periodic`
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/edges +64/)
    expect(stdout).toMatch(/degree +min 4, mean 4, max 4/)
    expect(stdout).toMatch(/symmetry +symmetric/)
    expect(stdout).toMatch(/grid +4 x 4, 4 offsets, Cartesian, periodic/)
    expect(stdout).toMatch(/best k +none/)
  })

  it('reports the messages of every k, and the best k', async () => {
    const machine = typed`--machine cluster:nodes=103,cores=40`
    const object = await json`topology moore:64x64:r=4 ${machine} --k 2,4`
    expect(object).toMatchObject({
      selfLoops: 0,
      reciprocity: 1,
      grid: {
        dims: [64, 64],
        periods: [true, true],
        stencil: { shape: 'box', radius: 4 },
        spec: 'stencil:64x64:box:r=4:periodic',
      },
      messages: { direct: 327_680, combined: { '4': 137_064 }, bestK: 4 },
    })
  })
})

describe('plan', () => {
  const niagara = typed`--strategy common-neighbor --k 4 --machine cluster:nodes=103,cores=40`

  it.each([
    [typed`--no-dedupe --no-elide`, 152_624],
    [[], 137_064],
  ])('moore:64x64:r=4, k = 4, 40 cores per node %j: 327,680 messages become %i', async (flags, planned) => {
    const object = await json`plan moore:64x64:r=4 ${niagara} ${flags}`
    expect(object).toMatchObject({
      ranks: 4096,
      strategy: 'common-neighbor',
      k: 4,
      theta: 4,
      groups: expect.any(Number),
      steps: expect.any(Number),
      messages: {
        direct: 327_680,
        planned,
        meanPerRank: planned / 4096,
        maxPerRank: expect.any(Number),
        interNode: expect.any(Number),
      },
      volumeBlocks: expect.any(Number),
      planMs: expect.any(Number),
      verified: true,
    })
  })

  it('direct reports no k, no theta and no groups', async () => {
    const object = await json`plan cart:4x4 --strategy direct`
    expect(object).toMatchObject({
      strategy: 'direct',
      k: null,
      theta: null,
      groups: 0,
      messages: { direct: 48, planned: 48, interNode: null },
      verified: true,
    })
  })

  it('planning is aware with a machine, unless --mode is agnostic', async () => {
    const machine = typed`--machine cluster:nodes=4,cores=4 --json`
    expect(onlyObject(await cli`plan moore:4x4:r=1 ${machine}`)).toMatchObject({ mode: 'aware', theta: 2 })
    expect(onlyObject(await cli`plan moore:4x4:r=1 --mode agnostic --k 3 ${machine}`)).toMatchObject({
      mode: 'agnostic',
      theta: 6,
    })
  })

  it('prints a table with direct and planned messages', async () => {
    const { stdout } = await cli`plan moore:8x8:r=2 --k 3`
    expect(stdout).toMatch(/messages +1,536 direct, 988 planned \(35.7% fewer\)/)
  })
})

describe('plan -o and verify', () => {
  const topology = 'moore:8x8:r=2'

  it('writes a file that verifies with its own topology and with the given one', async () => {
    const file = join(folder, 'plan.jsonl')
    expect(await cli`plan ${topology} -o ${file}`).toMatchObject({ exitCode: 0 })
    const own = await cli`verify ${file} --json`
    expect(own.exitCode).toBe(0)
    expect(onlyObject(own)).toMatchObject({ ok: true, violations: [] })
    expect(await cli`verify ${file} --topology ${topology}`).toMatchObject({ exitCode: 0 })
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  it('a plan for another topology: violations and exit code 1', async () => {
    const file = join(folder, 'plan.jsonl')
    await cli`plan ${topology} -o ${file}`
    const answer = await cli`verify ${file} --topology moore:8x8:r=1 --json`
    expect(answer.exitCode).toBe(1)
    expect(onlyObject(answer)).toMatchObject({
      ok: false,
      violations: [{ code: 'topology-differs', rank: 0, message: expect.any(String) }],
    })
    expect(answer.stderr).toContain('topology-differs, rank 0')
    const text = await cli`verify ${file} --topology moore:4x4:r=1`
    expect(text.stdout).toContain('64 ranks, 1,536 edges') // those of the file
  })

  it('a truncated file is bad input: exit code 2', async () => {
    const file = join(folder, 'plan.jsonl')
    await cli`plan ${topology} -o ${file}`
    const cut = join(folder, 'cut.jsonl')
    writeFileSync(cut, readFileSync(file, 'utf8').slice(0, -200))
    const answer = await cli`verify ${cut}`
    expect(answer.exitCode).toBe(2)
    expect(answer.stderr).toMatch(/^ERR_SCHEDULE_FORMAT: .*cut\.jsonl/m)
  })
})

it('help states the bounds of numbers', async () => {
  const { stdout } = await cli`plan --help`
  const text = stdout.replace(/\s+/g, ' ')
  expect(text).toContain('--k <number> friends per group: an integer from 2 to 1048576 (default: 2)')
  expect(text).toContain('bytes of every block, 0 to 2^40')
})
