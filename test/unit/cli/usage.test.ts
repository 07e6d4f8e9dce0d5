import { describe, expect, it } from 'vitest'
import { commandGroups } from '../../../src/cli/commands/commands.js'
import { exitCodes } from '../../../src/cli/output/exit-codes.js'
import { defaultServiceLimits } from '../../../src/client/protocol/limits.js'
import { cli, onlyObject, typed } from './run-cli.js'

const commands = [
  'run',
  'split',
  'spmm',
  'topology',
  'plan',
  'schedule',
  'export',
  'verify',
  'simulate',
  'machine',
  'measure',
  'mpi-info',
]

describe('help', () => {
  it('lists every command and every exit code', async () => {
    const { exitCode, stdout, stderr } = await cli`--help`
    expect(exitCode).toBe(0)
    for (const command of commands) expect(stdout).toContain(`  ${command} `)
    for (const code of Object.values(exitCodes)) expect(stdout).toMatch(new RegExp(`^  ${code} +\\w`, 'm'))
    expect(stderr).toBe('')
  })

  it('groups commands by reader', async () => {
    const { stdout } = await cli`--help`
    const headings = Array.from(stdout.matchAll(/^([A-Z][\w ]+):$/gm), ([, heading]) => heading)
    expect(headings).toEqual(['Options', ...commandGroups, 'Start here', 'Exit codes'])
  })

  it('the limits of serve are followed by their defaults and meanings', async () => {
    const { stdout } = await cli`serve --help`
    for (const [name, value] of Object.entries(defaultServiceLimits))
      expect(stdout).toMatch(new RegExp(`^  ${name} +${value} +[a-z].{8,}$`, 'm'))
  })

  it.each(commands)('%s shows examples', async (command) => {
    const { exitCode, stdout } = await cli`${command} --help`
    expect(exitCode).toBe(0)
    expect(stdout).toContain('Examples:')
    expect(stdout).toContain('--json')
  })

  it('no arguments: help on standard error, exit code 2', async () => {
    const { exitCode, stdout, stderr } = await cli()
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain('Usage: rankweave')
  })

  it.each(['advise', 'record'])('%s without -- says where the command goes', async (name) => {
    const { exitCode, stderr } = await cli`${name} mpirun --oversubscribe -n 4 ./program`
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`; write the command after --: rankweave ${name} -- mpirun`)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  it('--version prints the version', async () => {
    expect(await cli`--version`).toMatchObject({ exitCode: 0, stdout: '0.1.0\n' })
  })
})

describe('bad input ends with exit code 2 and an error code', () => {
  it.each([
    ['ERR_USAGE', 'unknown', []],
    ['ERR_USAGE', 'unknown', ['--help']],
    ['ERR_USAGE', 'unknown', typed`-h split`],
    ['ERR_USAGE', '--help', ['unknown']],
    ['ERR_USAGE', 'help', ['unknown']],
    ['ERR_USAGE', 'measure', typed`-n 0`],
    ['ERR_USAGE', 'measure', typed`-n 4 --runs 0`],
    ['ERR_USAGE', 'measure', typed`-n 4 --topology moore:4x4:r=1`],
    ['ERR_SPEC', 'measure', typed`-n 4 --topology more:2x2:r=1`],
    ['ERR_USAGE', 'split', []],
    ['ERR_USAGE', 'split', typed`-n 0`],
    ['ERR_USAGE', 'split', typed`-n 4194305`],
    ['ERR_USAGE', 'split', typed`-n 4 --processes 0`],
    ['ERR_USAGE', 'split', typed`-n 4 --fabric pigeons`],
    ['ERR_USAGE', 'split', typed`-n 4 --mpi-lib libmpi.so`],
    ['ERR_USAGE', 'split', typed`-n 4 --bind-to core`],
    ['ERR_USAGE', 'split', typed`-n 4 --fabric threads --bind-to socket`],
    ['ERR_USAGE', 'split', typed`-n 4 --report-after soon`],
    ['ERR_USAGE', 'split', typed`-n 4 --colors 0`],
    ['ERR_USAGE', 'split', typed`-n 4 --colors 2 --file colors.txt`],
    ['ERR_FILE', 'split', typed`-n 4 --file absent.txt`],
    ['ERR_USAGE', 'split', typed`-n 4 --algorithm bubble`],
    ['ERR_USAGE', 'split', typed`-n 4 --table strided`],
    ['ERR_ARGUMENT', 'split', typed`-n 4 --algorithm merging --table distributed`],
    ['ERR_USAGE', 'split', typed`-n 4 --sorters 0`],
    ['ERR_ARGUMENT', 'split', typed`-n 1000000 --sorters 2`],
    ['ERR_USAGE', 'split', typed`-n 4 --table-group 1.5`],
    ['ERR_ARGUMENT', 'split', typed`-n 3 --processes 8 --table-group 4`],
    ['ERR_USAGE', 'split', typed`-n 4 --max-table-bytes 0`],
    ['ERR_TABLE_SIZE', 'split', typed`-n 1000000 --max-table-bytes 1000000`],
    ['ERR_USAGE', 'split', typed`-n 4 --bogus`],
    ['ERR_USAGE', 'split', typed`-n 4 more`],
    ['ERR_USAGE', 'plan', typed`moore:4x4:r=1 --bogus`],
    ['ERR_USAGE', 'plan', []],
    ['ERR_USAGE', 'plan', ['moore:4x4:r=1', 'moore:4x4:r=1']],
    ['ERR_USAGE', 'plan', typed`moore:4x4:r=1 --k`],
    ['ERR_USAGE', 'plan', typed`moore:4x4:r=1 --k 1`],
    ['ERR_USAGE', 'plan', typed`moore:4x4:r=1 --k 2.5`],
    ['ERR_USAGE', 'plan', typed`moore:4x4:r=1 --k -2`],
    ['ERR_USAGE', 'plan', typed`moore:4x4:r=1 --k 1e3`],
    ['ERR_USAGE', 'plan', typed`moore:4x4:r=1 --theta x`],
    ['ERR_USAGE', 'plan', typed`moore:4x4:r=1 --mode both`],
    ['ERR_USAGE', 'plan', typed`moore:4x4:r=1 --mode aware`],
    ['ERR_STRATEGY', 'plan', typed`moore:4x4:r=1 --strategy magic`],
    ['ERR_MACHINE', 'plan', typed`moore:4x4:r=1 --machine cluster:none`],
    ['ERR_MACHINE', 'plan', typed`moore:4x4:r=1 --machine cluster:nodes=2,cores=4`],
    ['ERR_SPEC', 'plan', ['more:4x4:r=1']],
    ['ERR_FILE', 'plan', ['mtx:absent.mtx:ranks=4']],
    ['ERR_FILE', 'plan', typed`moore:4x4:r=1 -o absent/plan.jsonl`],
    ['ERR_FILE', 'plan', typed`moore:4x4:r=1 -o ${''}`],
    ['ERR_SPEC', 'topology', ['moore:4x4']],
    ['ERR_USAGE', 'topology', typed`moore:4x4:r=1 --k 2,`],
    ['ERR_USAGE', 'topology', typed`moore:4x4:r=1 --k 2,1`],
    ['ERR_FILE', 'topology', ['edges:absent.txt']],
    ['ERR_USAGE', 'topology', typed`moore:4x4:r=1 --format metis`],
    ['ERR_USAGE', 'topology', typed`moore:4x4:r=1 --format gml -o absent/g`],
    ['ERR_FILE', 'topology', typed`moore:4x4:r=1 --format metis -o absent/g`],
    ['ERR_TOPOLOGY', 'topology', ['ws:8:k=3:p=0']],
    ['ERR_MACHINE', 'topology', typed`moore:4x4:r=1 --machine cluster:nodes=2,cores=4`],
    ['ERR_USAGE', 'plan', typed`moore:4x4:r=1 --schedule-version 3`],
    ['ERR_USAGE', 'schedule', []],
    ['ERR_ARGUMENT', 'schedule', typed`bcast-magic --ranks 4`],
    ['ERR_USAGE', 'schedule', ['bcast-binomial']],
    ['ERR_USAGE', 'schedule', typed`bcast-binomial --ranks 0`],
    ['ERR_USAGE', 'schedule', typed`bcast-binomial --ranks 4 --segments 0`],
    ['ERR_RANK', 'schedule', typed`bcast-binomial --ranks 4 --root 4`],
    ['ERR_FILE', 'schedule', typed`bcast-binomial --ranks 4 -o absent/s.jsonl`],
    ['ERR_USAGE', 'export', typed`moore:4x4:r=1 -o absent/plan.c`],
    ['ERR_USAGE', 'export', typed`moore:4x4:r=1 --format fortran -o absent/plan.f`],
    ['ERR_USAGE', 'export', typed`moore:4x4:r=1 --format c`],
    ['ERR_USAGE', 'export', typed`moore:4x4:r=1 --format goal -o absent/plan.goal`],
    ['ERR_USAGE', 'export', typed`moore:4x4:r=1 --format c --bytes 4 -o absent/plan.c`],
    ['ERR_USAGE', 'export', typed`moore:4x4:r=1 --format c --operation bcast -o absent/plan.c`],
    ['ERR_USAGE', 'export', typed`bcast-binomial --format c -o plan.c`],
    ['ERR_USAGE', 'export', typed`absent.jsonl --operation neighbor-alltoall --format c -o plan.c`],
    ['ERR_FILE', 'export', typed`absent.jsonl --format c -o plan.c`],
    ['ERR_FILE', 'export', typed`moore:4x4:r=1 --format c -o absent/plan.c`],
    ['ERR_FILE', 'verify', ['absent.jsonl']],
    ['ERR_USAGE', 'spmm', []],
    ['ERR_USAGE', 'spmm', typed`-n 0`],
    ['ERR_USAGE', 'spmm', typed`-n 4194305`],
    ['ERR_USAGE', 'spmm', typed`-n 4 --columns 0`],
    ['ERR_USAGE', 'spmm', typed`-n 4 --processes many`],
    ['ERR_WORLD', 'spmm', typed`-n 4 --nodes 2`],
    ['ERR_USAGE', 'spmm', typed`-n 4 --fabric pigeons`],
    ['ERR_FILE', 'spmm', typed`absent.mtx -n 4`],
    ['ERR_USAGE', 'run', ['program.ts']],
    ['ERR_PROGRAM', 'run', typed`absent.ts -n 2`],
    ['ERR_PROGRAM', 'run', typed`program.py -n 2`],
  ] as const)('%s: %s %j', async (code, command, options) => {
    const spoken = await cli`${command} ${options}`
    expect(spoken).toMatchObject({ exitCode: 2, stdout: '' })
    expect(spoken.stderr).toMatch(new RegExp(`^${code}: `, 'm'))

    const printed = await cli`${command} ${options} --json`
    expect(printed.exitCode).toBe(2)
    expect(onlyObject(printed)).toEqual({
      error: { code, message: expect.any(String), details: expect.any(Object) },
    })
  })
})

it('a word that is none of several is answered with a list of them', async () => {
  const answer = await cli`split -n 4 --fabric pigeons`
  expect(answer.stderr).toContain('--fabric: expected local, threads, websocket or mpi, got "pigeons"')
})

it('says how to run a program that is named without a command', async () => {
  const answer = await cli`kmeans.ts -n 2`
  expect(answer.stderr).toMatch(
    /^ERR_USAGE: unknown command 'kmeans.ts'; to run a program: rankweave run kmeans.ts /,
  )
  expect((await cli`kmeans`).stderr).toMatch(/^ERR_USAGE: unknown command 'kmeans' \(/)
})

it('run --threads is answered with the options that give threads', async () => {
  const answer = await cli`run program.ts -n 2 --threads 2`
  expect(answer).toMatchObject({ exitCode: 2, stdout: '' })
  expect(answer.stderr).toMatch(
    /unknown option '--threads'.*; for two threads: --fabric threads --processes 2/s,
  )
})

it.each([
  { words: typed`plan moore:4x4:r=1 --engine` },
  { words: typed`plan moore:4x4:r=1 --mode` },
  { words: typed`study moore:4x4:r=1 --fabric` },
  { words: typed`serve --limits` },
  { words: typed`serve --limits ranks=` },
  { words: ['plan', '--'] },
  { words: [''] },
])('$words and a million characters are refused in few words', async ({ words }) => {
  const last = `${words.at(-1)!.replace(/^--[a-z]+$/, '')}${'9'.repeat(1_000_000)}`
  const isOption = /^--[a-z]/.test(words.at(-1)!)
  const answer = await cli`${isOption ? words : words.slice(0, -1)} ${last}`
  expect(answer).toMatchObject({ exitCode: 2, stdout: '' })
  expect(answer.stderr).toMatch(/^ERR_USAGE: .*99999/)
  expect(answer.stderr.length).toBeLessThan(1_000)
})

it.each([
  ['local', 1],
  ['threads', 2],
])('--nodes alone on %s asks for processes to host the nodes', async (fabric, processes) => {
  const nodes = processes + 1
  const alone = await cli`split -n 4 --fabric ${fabric} --nodes ${nodes}`
  expect(alone.stderr).toBe(
    `ERR_WORLD: --nodes ${nodes}: expected --processes ${nodes} or more, one per node, got ${processes}, the default\n`,
  )
  const fewer = await cli`split -n 4 --fabric ${fabric} --nodes 3 --processes 2`
  expect(fewer.stderr).toBe('ERR_WORLD: --nodes 3: expected --processes 3 or more, one per node, got 2\n')
})
