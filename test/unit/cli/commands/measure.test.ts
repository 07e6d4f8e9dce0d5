import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readMeasurements } from '../../../../src/tuning/measured/measurement.js'
import { settingLine } from '../../../../src/tuning/settings/setting.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json, refused, typed } from '../run-cli.js'

const folder = ownFolder('cli-measure')
const inFolder = (name: string) => join(folder, name)
const measured = (file: string) => readMeasurements(readFileSync(file, 'utf8').split('\n'))
const quick = typed`--repetitions 2 --budget 1`
const formula = typed`--source formula --profile simgrid-fast --spreads 8x1`
const simulator = (machine: string) =>
  typed`--source simulator --machine cluster:${machine},profile=simgrid-fast`

describe('measure', () => {
  it('writes a line for every point of the grid on a fabric, and reports the counts', async () => {
    const file = inFolder('local.jsonl')
    const world = typed`--fabric local --processes 4 --nodes 2 --site here`
    const object = await json`measure bcast barrier ${world} --bytes 8,64 ${quick} -o ${file}`
    const lines = measured(file)
    expect(object).toEqual({
      ...{ file, source: { kind: 'rankweave', name: 'local', machine: 'here' } },
      ...{ calls: 9, measured: lines.length, skipped: 0, refused: 0, wrong: [], points: lines.length },
    })
    const spreads = new Set(lines.map(({ nodes, processesPerNode }) => `${nodes}x${processesPerNode}`))
    expect([...spreads]).toEqual(['1x2', '2x1', '2x2'])
    expect(new Set(lines.map(({ bytes }) => bytes))).toEqual(new Set([8, 64, 0]))
    expect(lines.filter(({ algorithm }) => algorithm === 'default')).toHaveLength(9)
  })

  it('continues a file: only points that it lacks are measured', async () => {
    const file = inFolder('continued.jsonl')
    const words = typed`measure allgather ${simulator('nodes=2,cores=2')} -o ${file}`
    const first = await json`${words} --bytes 8`
    const whole = readFileSync(file, 'utf8')
    appendFileSync(file, whole.slice(0, 30))
    const answer = await cli`${words} --bytes 8,16 --json`
    expect(answer.stderr).toBe(`${file}: cut off a last line without its end, 30 bytes\n`)
    const { points } = JSON.parse(answer.stdout) as { points: number }
    expect(JSON.parse(answer.stdout)).toMatchObject({
      skipped: first['measured'],
      points: measured(file).length,
    })
    expect(readFileSync(file, 'utf8').startsWith(whole)).toBe(true)
    expect(await json`${words} --bytes 8,16`).toMatchObject({ measured: 0, skipped: points })
  })

  it('measures the algorithms that are named, and names those that serve no call', async () => {
    const [file, idle] = [inFolder('named.jsonl'), inFolder('idle.jsonl')]
    const named = typed`--algorithm bcast-binomial bcast-chain:segment=8192 --bytes 64KiB -o ${file}`
    expect(await cli`measure bcast ${formula} ${named}`).toMatchObject({ exitCode: 0 })
    expect(measured(file).map(settingLine)).toEqual([
      ...['bcast-binomial', 'bcast-binomial:segment=8192', 'bcast-chain:segment=8192'],
    ])
    const world = typed`--fabric local --processes 3 --spreads 1x3 --bytes 8 ${quick} -o ${idle}`
    const doubling = 'allgather-recursive-doubling'
    const answer = await cli`measure allgather ${world} --algorithm ${doubling} allgather-ring`
    expect([answer.exitCode, answer.stderr]).toEqual([0, `${doubling} serves no call of the grid\n`])
    expect(measured(idle).map(settingLine)).toEqual(['allgather-ring'])
  })

  it('leaves out processes that spread unevenly, and says so', async () => {
    const world = typed`--fabric local --processes 3 --nodes 2 --bytes 8 ${quick}`
    const answer = await cli`measure barrier ${world} -o ${inFolder('uneven.jsonl')}`
    expect(answer.exitCode).toBe(0)
    expect(answer.stderr).toContain('1 process is left out: 2x1 is the largest even spread of 3')
  })

  it.each(['loggp', 'hockney', 'plogp'])('predicts by the formulas of %s', async (model) => {
    const file = inFolder(`${model}.jsonl`)
    const words = typed`--model ${model} --algorithm bcast-binomial --bytes 1MiB -o ${file}`
    expect(await cli`measure bcast ${formula} ${words}`).toMatchObject({ exitCode: 0 })
    const [{ source, timesUs }] = measured(file)
    expect(source).toMatchObject({ kind: 'formula', name: model })
    expect(timesUs[0]).toBeGreaterThan(0)
  })

  it.each([
    [
      typed`bcast --site here`,
      typed`bcast --site there`,
      "expected those of rankweave 'local' on 'there', got rankweave 'local' on 'here'",
    ],
    [typed`reduce --type int32`, typed`reduce`, 'ERR_MEASUREMENT: .*expected reduce of float64, got int32'],
  ])('refuses, in a file of %j, lines of %j before it measures', async (first, second, message) => {
    const file = inFolder(`${first[0]}.jsonl`)
    const words = typed`--fabric local --bytes 8 ${quick} -o ${file}`
    expect(await cli`measure ${first} ${words}`).toMatchObject({ exitCode: 0 })
    const before = readFileSync(file, 'utf8')
    expect(await cli`measure ${second} ${words}`).toMatchObject(refused(new RegExp(message)))
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect(await cli`measure --check ${file}`).toMatchObject({ stderr: '' })
  })
})

describe('measure refuses', () => {
  it.each([
    ['rankweave', typed`--fabric local --processes 8 ${quick}`, 'default, bcast-linear'],
    ['simulator', simulator('nodes=8,cores=1'), 'bcast-linear'],
    ['formula', formula, 'bcast-linear'],
  ])('algorithms and settings that source %s does not measure', async (source, words, names) => {
    const file = inFolder(`nonsense-${source}.jsonl`)
    const measure = typed`measure bcast barrier ${words} --bytes 64KiB -o ${file}`
    const typo = await cli`${measure} --algorithm nonsense`
    expect(typo).toMatchObject(refused(/ERR_MEASUREMENT.*got 'nonsense'/s))
    expect(typo.stderr).toContain(`of bcast: ${names}`)
    const parameter = await cli`${measure} --algorithm bcast-chain:segmnt=8192`
    expect(parameter).toMatchObject(refused(/ERR_MEASUREMENT.*got 'bcast-chain:segmnt=8192'/s))
    expect(parameter.stderr).toContain('bcast-chain:segment=8192')
    expect(existsSync(file)).toBe(false)
  })

  const mpi = '--source mpi --launch'
  it.each([
    ['', '--check FILE'],
    ['neighbor-allgather', 'expected collectives among'],
    ['bcast', 'expected --output'],
    ['bcast -o -', '--output: expected a file'],
    ['bcast -o x --bytes 1MiB:8', '--bytes: expected bytes'],
    ['bcast -o x --site a\u202eb', '--site: expected 1 to 200 printable'],
    ['bcast -o x --spreads 4by2', '--spreads: expected spreads'],
    ['bcast -o x --spreads 1x1', 'spreads of 2 processes or more'],
    ['bcast -o x --repetitions 1025', 'from 1 to 1024'],
    ['bcast -o x --fabric local --processes 1', 'expected at least 2'],
    ['bcast -o x --fabric local --bind-to core', '--fabric threads'],
    ['bcast -o x --source mpi --bind-to core', '--source rankweave'],
    ['bcast -o x --source mpi', 'expected --launch'],
    [`scan -o x ${mpi} m --order tree`, 'expected any'],
    [`bcast -o x ${mpi} no-such --bytes 2GiB --longest 4GiB`, 'which counts by int, got 2147483648'],
    ['bcast -o x --source simulator', 'expected --machine'],
    ['bcast -o x --source formula', 'expected --profile'],
    ['bcast -o x --source formula --profile simgrid-fast', 'expected --spreads'],
    [`bcast -o x ${formula.join(' ')} --order any`, '--order is for reductions, not for bcast'],
    [`bcast -o x ${formula.join(' ')} --type int32`, '--type is for reductions, not for bcast'],
    ...[simulator('nodes=2,cores=1'), formula].flatMap((source) =>
      ['--precision 3', '--repetitions 9', '--budget 5', '--site here'].map((option) => [
        `bcast -o x ${source.join(' ')} ${option}`,
        `${option.split(' ')[0]} is for measured times, not for --source ${source[1]}`,
      ]),
    ),
  ])('%s', async (line, message) => {
    const answer = await cli`measure ${line.split(' ').filter((word) => word !== '')}`
    expect(answer).toMatchObject(refused('ERR_USAGE'))
    expect(answer.stderr).toContain(message)
    expect(existsSync('x')).toBe(false)
  })

  it.each([
    ['--site', 'a\nb', '--site: expected 1 to 200 printable'],
    ['--site', '', '--site: expected 1 to 200 printable'],
    ['--launch', ' ', 'expected --launch'],
    ['--launch', "mpirun --mca a 'b c'", '--launch: expected words with spaces between'],
    ['--launch', 'no-such-launcher -n 4', "is installed, got 'no-such-launcher'"],
  ])('%s %j', async (option, value, message) => {
    const source = option === '--launch' ? ['--source', 'mpi'] : []
    const answer = await cli`measure bcast -o x ${source} ${option} ${value}`
    expect(answer).toMatchObject(refused('ERR_USAGE'))
    expect(answer.stderr).toContain(message)
  })

  it.each([
    [typed`--fabric local --processes 4 ${quick} --spreads 4x2`, "'4x2'"],
    [typed`${simulator('nodes=2,cores=2')} --spreads 4x2`, "'4x2'"],
    [simulator('nodes=1,cores=1'), 'there is one process only'],
    [typed`--source mpi --launch no-such --bytes 2GiB`, 'more than 67108864 B in a process'],
    [typed`--fabric local --processes 2 --longest 4`, 'more than 4 B in a process'],
  ])('what does not fit or leaves nothing to measure, and makes no file: %j', async (words, why) => {
    const file = inFolder('nothing.jsonl')
    const answer = await cli`measure bcast ${words} -o ${file}`
    expect(answer).toMatchObject(refused('ERR_MEASUREMENT'))
    expect(answer.stderr).toContain(why)
    expect(existsSync(file)).toBe(false)
  })
})

describe('measure --check', () => {
  const source = { kind: 'mpi', name: 'Open MPI 4.1.4', machine: 'here' }
  const file = inFolder('checked.jsonl')
  /** Of 2 x 2 processes: collective, bytes, algorithm and microseconds. */
  const write = (...lines: readonly (readonly [string, number, string, number])[]) => {
    const texts = lines.map(([collective, bytes, algorithm, us]) =>
      JSON.stringify({
        ...{
          version: 1,
          source,
          collective,
          algorithm,
          parameters: {},
          nodes: 2,
          processesPerNode: 2,
          bytes,
        },
        ...{ timesUs: [us], intervalUs: [us, us] },
      }),
    )
    writeFileSync(file, texts.map((text) => `${text}\n`).join(''))
  }

  it('lists violations, each with its factor and what avoids it: exit code 1', async () => {
    write(['allgather', 8, 'ring', 90], ['gather', 8, 'linear', 20], ['bcast', 32, 'binomial', 25])
    const text = await cli`measure --check ${file}`
    expect(text.exitCode).toBe(1)
    expect(text.stdout.split('\n')).toEqual([
      '3 calls, 1 violation',
      '  checked of allgather: the best setting at 1 of 1 call',
      '  checked of bcast: the best setting at 1 of 1 call',
      '  checked of gather: the best setting at 1 of 1 call',
      '  2.00  allgather of 8 B on 2 x 2 processes, ring: 90.0 us, bound 45.0 us (allgather <= gather + bcast)',
      '        avoided by composition: gather of 8 B, linear + bcast of 32 B, binomial: 45.0 us',
      '',
    ])
    const guideline = 'allgather <= gather + bcast'
    expect(await json`measure --check ${file}`).toMatchObject({
      ...{ file, source, calls: 3 },
      of: ['allgather', 'bcast', 'gather'].map((collective) => ({
        ...{ collective, of: 'best', calls: 1, checked: 1 },
      })),
      violations: [
        {
          ...{ guideline, setting: 'ring', factor: 2, timeUs: 90, boundUs: 45 },
          remedy: { kind: 'composition', settings: ['linear', 'binomial'], timeUs: 45 },
        },
      ],
    })
  })

  it("checks the library's default where the file has it, or the best setting", async () => {
    write(['bcast', 8, 'default', 40], ['bcast', 8, 'chain', 10], ['bcast', 16, 'default', 20])
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
    expect(await cli`measure --check ${file} --of best`).toMatchObject({ exitCode: 0 })
    write(['bcast', 8, 'chain', 10])
    expect(await cli`measure --check ${file} --of default`).toMatchObject(refused('ERR_MEASUREMENT'))
  })

  it('names what it checks of each collective, where only a part has a default', async () => {
    write(
      ...([
        ['allgather', 8, 'ring', 90],
        ['gather', 8, 'default', 20],
        ['gather', 16, 'linear', 5],
      ] as const),
      ...([
        ['bcast', 32, 'binomial', 25],
        ['bcast', 64, 'binomial', 5],
      ] as const),
    )
    const usual = await cli`measure --check ${file}`
    expect([usual.exitCode, usual.stdout.split('\n').slice(0, 4)]).toEqual([
      1,
      [
        '5 calls, 2 violations',
        '  checked of allgather: the best setting at 1 of 1 call',
        '  checked of bcast: the best setting at 2 of 2 calls',
        '  checked of gather: the default at 1 of 2 calls',
      ],
    ])
    expect(usual.stdout).toContain('allgather of 8 B on 2 x 2 processes, ring')
    expect(await json`measure --check ${file} --of default`).toMatchObject({
      of: [
        { collective: 'allgather', of: 'default', calls: 1, checked: 0 },
        { collective: 'bcast', of: 'default', calls: 2, checked: 0 },
        { collective: 'gather', of: 'default', calls: 2, checked: 1 },
      ],
      violations: [],
    })
  })

  it('reports that nothing is violated: exit code 0', async () => {
    write(['bcast', 8, 'chain', 10], ['bcast', 16, 'chain', 12])
    expect(await cli`measure --check ${file}`).toEqual({
      ...{ exitCode: 0, stderr: '' },
      stdout: '2 calls, no guideline is violated\n  checked of bcast: the best setting at 2 of 2 calls\n',
    })
  })

  it('refuses a file that is damaged, missing or empty', async () => {
    write(['bcast', 8, 'chain', 10])
    appendFileSync(file, '{"version":2}\n')
    expect(await cli`measure --check ${file}`).toMatchObject(refused('line 2'))
    expect(await cli`measure --check ${inFolder('missing.jsonl')}`).toMatchObject(refused('ERR_FILE'))
    writeFileSync(file, '')
    expect(await cli`measure --check ${file}`).toMatchObject(refused('ERR_MEASUREMENT'))
  })
})
