import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json, refused, typed } from '../run-cli.js'

const folder = ownFolder('plan')

describe('topology', () => {
  it('counts groups within nodes with a machine, and all groups without', async () => {
    const of = async (...machine: string[]) => json`topology moore:16x16:r=2 ${machine} --k 2,4,8`
    const [all, within] = [await of(), await of('--machine', 'cluster:nodes=7,cores=40')]
    expect(all).toMatchObject({
      ...{ ranks: 256, edges: 6144, degree: { min: 24, mean: 24, max: 24 }, density: 24 / 255 },
    })
    const [more, fewer] = [all, within].map((object) => object['hyperedges'] as Record<string, number>)
    expect([Object.keys(more), Object.keys(fewer)]).toEqual([
      ['2', '4', '8'],
      ['2', '4', '8'],
    ])
    expect(fewer['2']).toBeLessThan(more['2'])
  })

  it('prints a table with symmetry, grid and best k', async () => {
    const { exitCode, stdout } = await cli`topology cart:4x4:periodic`
    expect(exitCode).toBe(0)
    for (const row of [
      /edges +64/,
      /degree +min 4, mean 4, max 4/,
      /symmetry +symmetric/,
      /grid +4 x 4, 4 offsets, Cartesian, periodic/,
      /best k +none/,
    ])
      expect(stdout).toMatch(row)
  })

  it('reports the messages of every k, and the best k', async () => {
    const stencil = { shape: 'box', radius: 4 }
    expect(await json`topology moore:16x16:r=4 --machine cluster:nodes=7,cores=40 --k 2,4`).toMatchObject({
      ...{ selfLoops: 0, reciprocity: 1 },
      grid: { dims: [16, 16], periods: [true, true], stencil, spec: 'stencil:16x16:box:r=4:periodic' },
      messages: { direct: 20_480, combined: { '4': 8032 }, bestK: 4 },
    })
  })
})

describe('plan', () => {
  it.each([
    [typed`--no-dedupe --no-elide`, 9230],
    [[], 8032],
  ])('of moore:16x16:r=4, k = 4, 40 cores per node %j has %i messages', async (flags, planned) => {
    const words = typed`--strategy common-neighbor --k 4 --machine cluster:nodes=7,cores=40 ${flags}`
    const number = expect.any(Number)
    expect(await json`plan moore:16x16:r=4 ${words}`).toMatchObject({
      ...{ ranks: 256, strategy: 'common-neighbor', k: 4, theta: 4, groups: number, steps: number },
      messages: {
        ...{ direct: 20_480, planned, meanPerRank: planned / 256 },
        ...{ maxPerRank: number, interNode: number },
      },
      ...{ volumeBlocks: number, planMs: number, verified: true },
    })
  })

  it('of direct sends has no k, no theta and no groups', async () => {
    expect(await json`plan cart:4x4 --strategy direct`).toMatchObject({
      ...{ strategy: 'direct', k: null, theta: null, groups: 0, verified: true },
      messages: { direct: 48, planned: 48, interNode: null },
    })
  })

  it('is aware with a machine, unless --mode is agnostic', async () => {
    const machine = typed`--machine cluster:nodes=4,cores=4`
    expect(await json`plan moore:4x4:r=1 ${machine}`).toMatchObject({ mode: 'aware', theta: 2 })
    const agnostic = await json`plan moore:4x4:r=1 --mode agnostic --k 3 ${machine}`
    expect(agnostic).toMatchObject({ mode: 'agnostic', theta: 6 })
  })

  it('prints a table with direct and planned messages, and help with the bounds of numbers', async () => {
    const { stdout } = await cli`plan moore:8x8:r=2 --k 3`
    expect(stdout).toMatch(/messages +1,536 direct, 988 planned \(35.7% fewer\)/)
    const help = (await cli`plan --help`).stdout
    const text = help.replace(/\s+/g, ' ')
    expect(text).toContain('--k <number> friends per group: an integer from 2 to 1048576 (default: 2)')
    expect(text).toContain('bytes of every block, for --strategy auto and --compare')
    expect(help).toMatch(/--strategy <text> +auto, direct/)
    expect(help).toMatch(/^ {2}auto:bytes=4096,budget=10 {3}the fastest/m)
  })

  const small = typed`plan er:14:d=0.6:seed=2 --k 3 --theta 2`

  it.each(['greedy', 'improved', 'exact'])('groups friends by the engine %s', async (engine) => {
    const { matching, verified } = await json`${small} --engine ${engine}`
    expect([verified, matching]).toEqual([
      true,
      expect.objectContaining({ engine, weight: expect.any(Number), messages: null }),
    ])
  })

  it('breaks ties by a permutation with --labels: plans differ between seeds', async () => {
    const messages = new Set<unknown>()
    for (const seed of [1, 2, 3, 4])
      messages.add(((await json`${small} --labels ${seed}`)['messages'] as { planned: number }).planned)
    expect(messages.size).toBeGreaterThan(1)
  })

  it.each([
    ['--engine distributed', 'ERR_STRATEGY: '],
    ['--engine distributed', 'here every process would simulate all ranks: use greedy'],
    ['--engine best', 'ERR_USAGE: '],
    ['--labels -1', 'ERR_USAGE: '],
  ])('refuses %s', async (options, message) => {
    expect(await cli`${small} ${options.split(' ')}`).toMatchObject(refused(message))
  })

  it('--cache retains plans, uses those that are there, and says why one is not used', async () => {
    const directory = join(folder, 'cache')
    const words = typed`plan er:14:d=0.6:seed=2 --cache ${directory}`
    const first = await json`${words}`
    expect(first['cache']).toEqual({ directory, cachedMs: null })
    expect(await json`${words}`).toEqual({ ...first, cache: { directory, cachedMs: expect.any(Number) } })
    expect((await cli`${words}`).stdout).toContain('read from cache')
    const [file] = readdirSync(directory)
    writeFileSync(join(directory, file), 'nothing')
    const damaged = await cli`${words}`
    expect(damaged.stdout).not.toContain('read from cache')
    expect(damaged.stderr).toContain('a cached plan is not used: it does not begin as a plan')
    expect((await cli`${words}`).stdout).toContain('read from cache')
  })
})

describe('plan -o and verify', () => {
  const topology = 'moore:8x8:r=2'
  const file = join(folder, 'plan.jsonl')

  it('write a file that verifies with its own topology and with the given one', async () => {
    expect(await cli`plan ${topology} -o ${file}`).toMatchObject({ exitCode: 0 })
    expect(await json`verify ${file}`).toMatchObject({ ok: true, violations: [] })
    expect(await cli`verify ${file} --topology ${topology}`).toMatchObject({ exitCode: 0 })
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  it('a plan for another topology: violations and exit code 1', async () => {
    await cli`plan ${topology} -o ${file}`
    const answer = await cli`verify ${file} --topology moore:8x8:r=1 --json`
    expect(answer).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('topology-differs, rank 0') })
    expect(JSON.parse(answer.stdout)).toMatchObject({
      ok: false,
      violations: [{ code: 'topology-differs', rank: 0, message: expect.any(String) }],
    })
    const text = await cli`verify ${file} --topology moore:4x4:r=1`
    expect(text.stdout).toContain('64 ranks, 1,536 edges') // those of the file
  })

  it('a truncated file is bad input: exit code 2', async () => {
    await cli`plan ${topology} -o ${file}`
    const cut = join(folder, 'cut.jsonl')
    writeFileSync(cut, readFileSync(file, 'utf8').slice(0, -200))
    expect(await cli`verify ${cut}`).toMatchObject(refused(/^ERR_SCHEDULE_FORMAT: .*cut\.jsonl/m))
  })

  it('-o - is standard output, and the report is then on standard error', async () => {
    const answer = await cli`plan moore:8x8:r=1 -o -`
    writeFileSync(file, answer.stdout)
    expect(answer.stderr).toMatch(/^moore:8x8:r=1: common-neighbor.*\n {2}friend groups/)
    expect((await cli`verify ${file}`).exitCode).toBe(0)
    expect(await json`plan moore:8x8:r=1 -o -`).toMatchObject({ error: { code: 'ERR_USAGE' } })
  })

  it('plans and topologies are compressed if their name ends in .gz, and read like others', async () => {
    const [plan, matrix] = [join(folder, 'plan.jsonl.gz'), join(folder, 'edges.csv.gz')]
    expect((await cli`plan moore:8x8:r=1 -o ${plan}`).exitCode).toBe(0)
    expect([...readFileSync(plan).subarray(0, 2)]).toEqual([0x1f, 0x8b])
    expect((await cli`verify ${plan} --topology moore:8x8:r=1`).exitCode).toBe(0)
    await cli`topology moore:8x8:r=1 --format csv -o ${matrix}`
    expect(await json`topology csv:${matrix}`).toMatchObject({ edges: 512 })
    writeFileSync(matrix, readFileSync(matrix).subarray(0, 300))
    expect(await cli`topology csv:${matrix}`).toMatchObject(refused('the file is truncated'))
  })
})

describe('plan --strategy auto, and --compare', () => {
  const machine = typed`--machine cluster:nodes=2,cores=8,profile=simgrid-fast`
  const auto = typed`--strategy auto:budget=2 ${machine}`

  it('plans what it chose, and says among what', async () => {
    const object = await json`plan moore:4x4:r=1 ${auto} --bytes 4`
    const number = expect.any(Number)
    expect(object).toMatchObject({
      ...{ parameters: expect.any(Object), notSimulated: expect.any(Array), remark: null },
      ...{ verified: true, bytesPerBlock: 4, origins: { timeUs: 'simulated', planMs: 'measured' } },
      ordinaryAllgather: { algorithm: 'allgather-recursive-doubling', timeUs: number },
    })
    const { chosen, alternatives, strategy } = object as {
      chosen: string
      strategy: string
      alternatives: { strategy: string; breakEvenStarts: number | null }[]
    }
    const { directUs, plannedUs, speedup } = object['simulated'] as Record<string, number>
    expect(speedup).toBe(directUs / plannedUs)
    expect(speedup).toBeGreaterThan(1)
    expect(chosen).toBe(alternatives[0].strategy)
    expect(chosen).toMatch(new RegExp(`^${strategy}`))
    const direct = alternatives.find((alternative) => alternative.strategy === 'direct')
    expect(direct).toMatchObject({ breakEvenStarts: null })
  })

  it('prints a table that marks what is planned', async () => {
    const { stdout } = await cli`plan moore:4x4:r=1 ${auto} --bytes 4 --compare`
    expect(stdout).not.toContain('fastest simulated')
    for (const shown of [
      /breaks even after\n {2}\* \S+ +[\d.]+ us .* about [\d,]+ calls?\n/,
      /^times are simulated with profile simgrid-fast \(costs given.*\); choosing and planning are measured$/m,
      /^moore:4x4:r=1: \S+:\S+=\S+\n/,
      / {4}allgather:radices=\S+ +[\d.]+ us/,
      // What direct sends take, and an ordinary allgather, divided by the time of each.
      / simulated +direct sends \/ this +allgather \/ this +messages /,
      / - allgather-recursive-doubling, all to all +[\d.]+ us +[\d.]+ +1 /,
      / {4}direct +[\d.]+ us +1 +[\d.]+ /,
      / {4}direct +[\d.]+ us .* never\n/,
      ...[2, 4, 8].map((k) => ` common-neighbor:k=${k},mode=aware `),
      /not simulated, as the budget is used up: \S+:\S+ \(at least [\d.]+ us\)/,
    ])
      expect(stdout).toMatch(shown)
  })

  it('remark where nothing gains', async () => {
    const words = typed`plan moore:4x4:r=1 --strategy routed:radices=2.2.2.2 ${machine} --bytes 4000000 --compare`
    const { stdout } = await cli`${words}`
    expect(stdout).toMatch(/simulated time +[\d,.]+ us direct, [\d,.]+ us planned \(0\.\d+ times as fast\)\n/)
    expect(stdout).toMatch(/ remark +.*(no plan gains here|this plan gains nothing)/)
  })

  it('have a named strategy among the others', async () => {
    const { stdout } = await cli`plan moore:4x4:r=1 --k 2 ${machine} --bytes 4 --compare`
    expect(stdout).toMatch(/\* common-neighbor:k=2,mode=aware/)
    expect(stdout).toMatch(/simulated \(\* planned, - an ordinary allgather\)/)
    expect(stdout).toMatch(
      /^ {2}fastest simulated: --strategy \S+; the planned one takes [\d.]+ times as long$/m,
    )
  })

  const oneNode = 'cluster:nodes=1,cores=8,profile=simgrid-fast'
  it.each([
    [typed`--strategy auto:bytes=64 ${machine} --bytes 4`, 'ERR_USAGE'],
    [typed`--strategy direct --bytes 4`, 'ERR_USAGE'],
    [typed`--strategy direct --k 4`, 'ERR_USAGE'],
    [typed`--strategy common-neighbor:k=2 --mode aware ${machine}`, 'ERR_USAGE'],
    [typed`${auto} --bytes 4 --theta 2`, 'ERR_USAGE'],
    [typed`--strategy lanes:lanes=99 ${machine}`, 'ERR_STRATEGY'],
    [typed`--strategy routed:radices=2147483647`, 'ERR_STRATEGY'],
    [typed`--strategy auto --bytes 4`, 'ERR_USAGE'],
    [auto, 'ERR_USAGE'],
    [typed`--strategy auto:budget=0 ${machine} --bytes 4`, 'ERR_STRATEGY'],
    [typed`--compare --bytes 4`, 'ERR_USAGE'],
    [typed`--compare --machine cluster:nodes=2,cores=8 --bytes 4`, 'ERR_MACHINE'],
    [typed`--strategy auto --machine ${oneNode} --bytes 4`, 'ERR_MACHINE'],
  ])('refuse %j', async (words, code) => {
    expect(await json`plan moore:4x4:r=1 ${words}`).toMatchObject({ error: { code } })
  })

  it.each([typed`simulate moore:4x4:r=1 ${machine} --bytes 4`, typed`spmm -n 4`])(
    '%s refuses options of friend groups beside another strategy',
    async (...words) => {
      const object = await json`${words} --strategy direct --k 4`
      expect(object).toMatchObject({ error: { code: 'ERR_USAGE' } })
    },
  )
})
