import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readMeasurements } from '../../../../src/tuning/measured/read-measurements.js'
import { settingLine } from '../../../../src/tuning/settings/setting.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'
import { cli, json, onlyObject, refused, typed } from '../run-cli.js'

const folder = temporaryFolder('cli-measure')
const measured = (file: string) => readMeasurements(readFileSync(file, 'utf8').split('\n'))
const quick = typed`--repetitions 2 --budget 1`

describe('measure', () => {
  it('writes a line for every point of the grid on a fabric, and reports the counts', async () => {
    const file = join(folder(), 'local.jsonl')
    const world = typed`--fabric local --processes 4 --nodes 2 --site here`
    const answer = await cli`measure bcast barrier ${world} --bytes 8,64 ${quick} -o ${file} --json`
    expect(answer).toMatchObject({ exitCode: 0, stderr: '' })
    const lines = measured(file)
    expect(onlyObject(answer)).toEqual({
      ...{ file, source: { kind: 'rankweave', name: 'local', machine: 'here' } },
      ...{ calls: 9, measured: lines.length, skipped: 0, refused: 0, wrong: [], points: lines.length },
    })
    const spreads = new Set(lines.map(({ nodes, processesPerNode }) => `${nodes}x${processesPerNode}`))
    expect([...spreads]).toEqual(['1x2', '2x1', '2x2'])
    expect(new Set(lines.map(({ bytes }) => bytes))).toEqual(new Set([8, 64, 0]))
    expect(lines.filter(({ algorithm }) => algorithm === 'default')).toHaveLength(9)
  })

  it('continues a file: only points that it lacks are measured', async () => {
    const file = join(folder(), 'continued.jsonl')
    const simulated = (bytes: string) =>
      cli`measure allgather --source simulator --machine cluster:nodes=2,cores=2,profile=simgrid-fast --bytes ${bytes} -o ${file} --json`
    const first = onlyObject(await simulated('8'))
    const whole = readFileSync(file, 'utf8')
    appendFileSync(file, whole.slice(0, 30))
    const answer = await simulated('8,16')
    expect(answer.stderr).toBe(`${file}: cut off a last line without its end, 30 bytes\n`)
    const second = onlyObject(answer)
    expect(second).toMatchObject({ skipped: first['measured'], points: measured(file).length })
    expect(readFileSync(file, 'utf8').startsWith(whole)).toBe(true)
    expect(onlyObject(await simulated('8,16'))).toMatchObject({ measured: 0, skipped: second['points'] })
  })

  it('measures the algorithms that are named', async () => {
    const file = join(folder(), 'named.jsonl')
    const words = typed`--algorithm bcast-binomial bcast-chain:segment=8192 --bytes 64KiB`
    const formula = typed`--source formula --profile simgrid-fast --spreads 8x1`
    expect(await cli`measure bcast ${formula} ${words} -o ${file}`).toMatchObject({ exitCode: 0 })
    expect(measured(file).map(settingLine)).toEqual([
      ...['bcast-binomial', 'bcast-binomial:segment=8192', 'bcast-chain:segment=8192'],
    ])
  })

  it.each([
    ['rankweave', typed`--fabric local --processes 8 ${quick}`, 'default, bcast-linear'],
    [
      'simulator',
      typed`--source simulator --machine cluster:nodes=8,cores=1,profile=simgrid-fast`,
      'bcast-linear',
    ],
    ['formula', typed`--source formula --profile simgrid-fast --spreads 8x1`, 'bcast-linear'],
  ])('refuses algorithms and settings that source %s does not measure', async (source, words, names) => {
    const file = join(folder(), `nonsense-${source}.jsonl`)
    const measure = typed`measure bcast barrier ${words} --bytes 64KiB -o ${file}`
    const typo = await cli`${measure} --algorithm nonsense`
    expect([typo.exitCode, typo.stderr]).toEqual([2, expect.stringContaining('ERR_MEASUREMENT')])
    expect(typo.stderr).toContain("got 'nonsense'")
    expect(typo.stderr).toContain(`of bcast: ${names}`)
    expect(existsSync(file)).toBe(false)
    const parameter = await cli`${measure} --algorithm bcast-chain:segmnt=8192`
    expect([parameter.exitCode, parameter.stderr]).toEqual([2, expect.stringContaining('ERR_MEASUREMENT')])
    expect(parameter.stderr).toContain("got 'bcast-chain:segmnt=8192'")
    expect(parameter.stderr).toContain('bcast-chain:segment=8192')
    expect(existsSync(file)).toBe(false)
  })

  it('names algorithms that serve no call, and measures the others', async () => {
    const file = join(folder(), 'idle.jsonl')
    const world = typed`--fabric local --processes 3 --spreads 1x3 --bytes 8 ${quick}`
    const idle = 'allgather-recursive-doubling'
    const answer = await cli`measure allgather ${world} --algorithm ${idle} allgather-ring -o ${file}`
    expect([answer.exitCode, answer.stderr]).toEqual([0, `${idle} serves no call of the grid\n`])
    expect(measured(file).map(settingLine)).toEqual(['allgather-ring'])
  })

  it.each([
    ['no collective', [], '--check FILE'],
    ['another word', ['neighbor-allgather'], 'expected collectives among'],
    ['no output', ['bcast'], 'expected --output'],
    ['standard output', typed`bcast -o -`, '--output: expected a file'],
    ['bytes', typed`bcast -o x --bytes 1MiB:8`, '--bytes: expected bytes'],
    ['a site of two lines', typed`bcast -o x --site ${'a\nb'}`, '--site: expected 1 to 200 printable'],
    ['a site of bidi marks', typed`bcast -o x --site a‮b`, '--site: expected 1 to 200 printable'],
    ['a site without a name', typed`bcast -o x --site ${''}`, '--site: expected 1 to 200 printable'],
    ['spreads', typed`bcast -o x --spreads 4by2`, '--spreads: expected spreads'],
    ['a spread of one process', typed`bcast -o x --spreads 1x1`, 'spreads of 2 processes or more'],
    ['too many repetitions', typed`bcast -o x --repetitions 1025`, 'from 1 to 1024'],
    ['one process', typed`bcast -o x --fabric local --processes 1`, 'expected at least 2'],
    ['a binding on local', typed`bcast -o x --fabric local --bind-to core`, '--fabric threads'],
    ['a binding of MPI', typed`bcast -o x --source mpi --bind-to core`, '--source rankweave'],
    ['no launcher', typed`bcast -o x --source mpi`, 'expected --launch'],
    ['the order of MPI', typed`scan -o x --source mpi --launch m --order tree`, 'expected any'],
    ['an empty launcher', typed`bcast -o x --source mpi --launch ${' '}`, 'expected --launch'],
    [
      'quotes in a launcher',
      typed`bcast -o x --source mpi --launch ${"mpirun --mca a 'b c'"}`,
      '--launch: expected words with spaces between',
    ],
    [
      'a launcher that is not installed',
      typed`bcast -o x --source mpi --launch ${'no-such-launcher -n 4'}`,
      "is installed, got 'no-such-launcher'",
    ],
    [
      'bytes that MPI does not count',
      typed`bcast -o x --source mpi --launch no-such --bytes 2GiB --longest 4GiB`,
      '--bytes: expected less than 2 GiB for --source mpi, which counts by int, got 2147483648',
    ],
    ['no machine', typed`bcast -o x --source simulator`, 'expected --machine'],
    ['no profile', typed`bcast -o x --source formula`, 'expected --profile'],
    ['no spreads', typed`bcast -o x --source formula --profile simgrid-fast`, 'expected --spreads'],
  ])('refuses %s', async (_, words, message) => {
    const answer = await cli`measure ${words}`
    expect([answer.exitCode, answer.stderr]).toEqual([2, expect.stringContaining('ERR_USAGE')])
    expect(answer.stderr).toContain(message)
  })

  const simulator = typed`--source simulator --machine cluster:nodes=2,cores=1,profile=simgrid-fast`
  const formula = typed`--source formula --profile simgrid-fast --spreads 8x1`
  it.each(
    [simulator, formula].flatMap((source) =>
      [typed`--precision 3`, typed`--repetitions 9`, typed`--budget 5`, typed`--site here`].map((option) => [
        ...source,
        ...option,
      ]),
    ),
  )('refuses what computed times do not have: %s %s %s %s %s %s', async (...words) => {
    const file = join(folder(), 'computed.jsonl')
    const answer = await cli`measure bcast -o ${file} ${words}`
    const option = words.at(-2)!
    expect([answer.exitCode, answer.stderr]).toEqual([
      2,
      expect.stringContaining(`ERR_USAGE: ${option} is for measured times, not for --source ${words[1]}`),
    ])
    expect(existsSync(file)).toBe(false)
  })

  it.each([typed`--order any`, typed`--type int32`])(
    'refuses %s where no reduction is measured',
    async (option, value) => {
      expect(await cli`measure bcast ${simulator} -o x ${option} ${value}`).toMatchObject(
        refused(`ERR_USAGE: ${option} is for reductions, not for bcast`),
      )
    },
  )

  it('refuses spreads that do not fit, on a fabric and on a machine', async () => {
    const file = join(folder(), 'misfit.jsonl')
    const words = typed`measure bcast --spreads 4x2 -o ${file}`
    const world = await cli`${words} --fabric local --processes 4 ${quick}`
    const machine = typed`--source simulator --machine cluster:nodes=2,cores=2,profile=simgrid-fast`
    for (const answer of [world, await cli`${words} ${machine}`]) {
      expect(answer.exitCode).toBe(2)
      expect(answer.stderr).toContain('ERR_MEASUREMENT')
      expect(answer.stderr).toContain("'4x2'")
      expect(existsSync(file)).toBe(false)
    }
  })

  it('refuses what leaves nothing to measure, and makes no file', async () => {
    const file = join(folder(), 'nothing.jsonl')
    const machine = typed`--source simulator --machine cluster:nodes=1,cores=1,profile=simgrid-fast`
    const world = typed`--fabric local --processes 2 --longest 4`
    const library = typed`--source mpi --launch no-such --bytes 2GiB`
    for (const [words, why] of [
      [machine, 'there is one process only'],
      [library, 'more than 67108864 B in a process'],
      [world, 'more than 4 B in a process'],
    ] as const) {
      const answer = await cli`measure bcast ${words} -o ${file}`
      expect([answer.exitCode, answer.stderr]).toEqual([2, expect.stringContaining('ERR_MEASUREMENT')])
      expect(answer.stderr).toContain(why)
      expect(existsSync(file)).toBe(false)
    }
  })

  it.each(['loggp', 'hockney', 'plogp'])('predicts by the formulas of %s', async (model) => {
    const file = join(folder(), `${model}.jsonl`)
    const formula = typed`--source formula --profile simgrid-fast --model ${model} --spreads 8x1`
    const words = typed`--algorithm bcast-binomial --bytes 1MiB -o ${file}`
    expect(await cli`measure bcast ${formula} ${words}`).toMatchObject({ exitCode: 0 })
    const [{ source, timesUs }] = measured(file)
    expect(source).toMatchObject({ kind: 'formula', name: model })
    expect(timesUs[0]).toBeGreaterThan(0)
  })

  it('refuses a file of another source before it measures, and leaves it unchanged', async () => {
    const file = join(folder(), 'source.jsonl')
    const words = typed`measure bcast --fabric local --bytes 8 ${quick} -o ${file}`
    expect(await cli`${words} --site here`).toMatchObject({ exitCode: 0 })
    const before = readFileSync(file, 'utf8')
    expect(await cli`${words} --site there`).toMatchObject(
      refused("expected those of rankweave 'local' on 'there', got rankweave 'local' on 'here'"),
    )
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  it('refuses a file of reductions of another type before it measures, and leaves it unchanged', async () => {
    const file = join(folder(), 'type.jsonl')
    const words = typed`measure reduce --fabric local --bytes 8 ${quick} -o ${file}`
    expect(await cli`${words} --type int32`).toMatchObject({ exitCode: 0 })
    expect(measured(file).every(({ elementType }) => elementType === 'int32')).toBe(true)
    const before = readFileSync(file, 'utf8')
    const answer = await cli(...words)
    expect([answer.exitCode, answer.stderr]).toEqual([2, expect.stringContaining('ERR_MEASUREMENT')])
    expect(answer.stderr).toContain('expected reduce of float64, got int32')
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect(await cli`measure --check ${file}`).toMatchObject({ stderr: '' })
  })

  it('leaves out processes that spread unevenly, and says so', async () => {
    const file = join(folder(), 'uneven.jsonl')
    const world = typed`--fabric local --processes 3 --nodes 2 --bytes 8`
    const answer = await cli`measure barrier ${world} ${quick} -o ${file}`
    expect(answer.exitCode).toBe(0)
    expect(answer.stderr).toContain('1 process is left out: 2x1 is the largest even spread of 3')
  })
})

describe('measure --check', () => {
  const source = { kind: 'mpi', name: 'Open MPI 4.1.4', machine: 'here' }
  const line = (collective: string, bytes: number, algorithm: string, us: number) =>
    `${JSON.stringify({
      ...{ version: 1, source, collective, algorithm, parameters: {}, nodes: 2, processesPerNode: 2, bytes },
      ...{ timesUs: [us], intervalUs: [us, us] },
    })}\n`

  it('lists violations, each with its factor and what avoids it: exit code 1', async () => {
    const file = join(folder(), 'violated.jsonl')
    writeFileSync(
      file,
      line('allgather', 8, 'ring', 90) + line('gather', 8, 'linear', 20) + line('bcast', 32, 'binomial', 25),
    )
    const text = await cli`measure --check ${file}`
    expect(text.exitCode).toBe(1)
    expect(text.stdout).toContain('3 calls, 1 violation\n')
    expect(text.stdout.split('\n').slice(1)).toEqual([
      '  checked of allgather: the best setting at 1 of 1 call',
      '  checked of bcast: the best setting at 1 of 1 call',
      '  checked of gather: the best setting at 1 of 1 call',
      '  2.00  allgather of 8 B on 2 x 2 processes, ring: 90.0 us, bound 45.0 us (allgather <= gather + bcast)',
      '        avoided by composition: gather of 8 B, linear + bcast of 32 B, binomial: 45.0 us',
      '',
    ])
    const answer = await cli`measure --check ${file} --json`
    expect(answer.exitCode).toBe(1)
    expect(onlyObject(answer)).toMatchObject({
      ...{ file, source, calls: 3 },
      of: ['allgather', 'bcast', 'gather'].map((collective) => ({
        ...{ collective, of: 'best', calls: 1, checked: 1 },
      })),
      violations: [
        {
          ...{
            guideline: 'allgather <= gather + bcast',
            setting: 'ring',
            factor: 2,
            timeUs: 90,
            boundUs: 45,
          },
          remedy: { kind: 'composition', settings: ['linear', 'binomial'], timeUs: 45 },
        },
      ],
    })
  })

  it("checks the library's default where the file has it, or the best setting", async () => {
    const file = join(folder(), 'default.jsonl')
    writeFileSync(
      file,
      line('bcast', 8, 'default', 40) + line('bcast', 8, 'chain', 10) + line('bcast', 16, 'default', 20),
    )
    const text = await cli`measure --check ${file}`
    expect([text.exitCode, text.stdout.split('\n').slice(1)]).toEqual([
      1,
      [
        '  checked of bcast: the default at 2 of 2 calls',
        '  2.00  bcast of 8 B on 2 x 2 processes, default: 40.0 us, bound 20.0 us (more bytes)',
        '        avoided by setting: chain: 10.0 us',
        '',
      ],
    ])
    expect((await cli`measure --check ${file} --of best`).exitCode).toBe(0)
    writeFileSync(file, line('bcast', 8, 'chain', 10))
    expect(await cli`measure --check ${file} --of default`).toMatchObject(refused('ERR_MEASUREMENT'))
  })

  it('names what it checks of each collective, where only a part has a default', async () => {
    const file = join(folder(), 'partial.jsonl')
    writeFileSync(
      file,
      line('allgather', 8, 'ring', 90) +
        line('gather', 8, 'default', 20) +
        line('gather', 16, 'linear', 5) +
        line('bcast', 32, 'binomial', 25) +
        line('bcast', 64, 'binomial', 5),
    )
    const usual = await cli`measure --check ${file}`
    expect(usual.exitCode).toBe(1)
    const [head, ...lines] = usual.stdout.trimEnd().split('\n')
    expect(head).toBe('5 calls, 2 violations')
    expect(lines.slice(0, 3)).toEqual([
      '  checked of allgather: the best setting at 1 of 1 call',
      '  checked of bcast: the best setting at 2 of 2 calls',
      '  checked of gather: the default at 1 of 2 calls',
    ])
    expect(usual.stdout).toContain('allgather of 8 B on 2 x 2 processes, ring')
    const object = await json`measure --check ${file} --of default`
    expect(object).toMatchObject({
      of: [
        { collective: 'allgather', of: 'default', calls: 1, checked: 0 },
        { collective: 'bcast', of: 'default', calls: 2, checked: 0 },
        { collective: 'gather', of: 'default', calls: 2, checked: 1 },
      ],
      violations: [],
    })
  })

  it('reports that nothing is violated: exit code 0', async () => {
    const file = join(folder(), 'kept.jsonl')
    writeFileSync(file, line('bcast', 8, 'chain', 10) + line('bcast', 16, 'chain', 12))
    expect(await cli`measure --check ${file}`).toEqual({
      ...{ exitCode: 0, stderr: '' },
      stdout: '2 calls, no guideline is violated\n  checked of bcast: the best setting at 2 of 2 calls\n',
    })
  })

  it('refuses a file that is damaged, missing or empty', async () => {
    const file = join(folder(), 'damaged.jsonl')
    writeFileSync(file, `${line('bcast', 8, 'chain', 10)}{"version":2}\n`)
    expect(await cli`measure --check ${file}`).toMatchObject(refused('line 2'))
    expect(await cli`measure --check ${join(folder(), 'missing.jsonl')}`).toMatchObject(refused('ERR_FILE'))
    writeFileSync(file, '')
    expect(await cli`measure --check ${file}`).toMatchObject(refused('ERR_MEASUREMENT'))
  })
})
