import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { formatTuningFile } from '../../../src/tuning/models/read-tuning-file.js'
import { diagnosed, diagnosedProgram } from '../../support/diagnosed.js'
import { describeMpi, rankweave, runJob, startCommand } from '../../support/mpi.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { modelOfOneSetting, simulated, treeByBytes } from '../../support/tuning-files.js'
import { onlyObject } from '../cli/run-cli.js'

const folder = temporaryFolder('mpi-command')
const pathOf = (name: string) => join(folder(), name)

const machine = 'torus:dims=2x2,cores=2,profile=simgrid-fast'
const used = `export default async (world) => {
  await world.allgather(new Uint8Array(8))
  const { collectives, machine } = world.describe()
  return collectives[0].algorithm + ' on ' + machine.text
}`

beforeAll(() => {
  writeFileSync(pathOf('used.mjs'), used)
  writeFileSync(pathOf('lines.ts'), diagnosedProgram)
  for (const algorithm of ['allgather-ring', 'allgather-linear']) {
    const tree = treeByBytes('allgather', [algorithm])
    writeFileSync(pathOf(algorithm), formatTuningFile(simulated, { allgather: tree }))
  }
  for (const algorithm of ['bcast-linear', 'bcast-binomial']) {
    mkdirSync(pathOf(algorithm))
    const source = { kind: 'rankweave', name: 'mpi', machine: hostname() } as const
    writeFileSync(join(pathOf(algorithm), 'model.json'), modelOfOneSetting(source, 'bcast', algorithm))
  }
})

describeMpi('rankweave in a job', (mpi) => {
  const flags = (program: string, ...more: readonly string[]) =>
    rankweave('run', program, '-n', '2', '--fabric', 'mpi', ...more)

  /** The command on two processes, after words of a shell that know the number of their process. */
  const differing = (script: string, nodeArgs: readonly string[]) => {
    const words = [
      'sh',
      '-c',
      `rank=$OMPI_COMM_WORLD_RANK$PMI_RANK; ${script}`,
      'sh',
      process.execPath,
      ...nodeArgs,
    ]
    return startCommand(mpi, 2, words).ended
  }

  it('uses the machine and the tuning file that all processes name', async () => {
    const options = ['--machine', machine, '--tuning', pathOf('allgather-ring')]
    const { code, stdout } = await runJob(mpi, 2, flags(pathOf('used.mjs'), ...options))
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`rank 1 returned 'allgather-ring on ${machine}'`),
    ])
  })

  const tuning = (first: string, other: string) =>
    `[ "$rank" = 1 ] && export RANKWEAVE_TUNING='${other}' || export RANKWEAVE_TUNING='${first}'; exec "$@"`
  it.each<[string, string, () => string]>([
    ['machines differ', 'MACHINE', () => machines('--machine cluster:nodes=2,cores=2')],
    ['a machine is of one process only', 'MACHINE', () => machines('')],
    ['tuning files differ', 'TUNING', () => tuning(pathOf('allgather-ring'), pathOf('allgather-linear'))],
    ['a tuning file is of one process only', 'TUNING', () => tuning(pathOf('allgather-ring'), '')],
    [
      'models of online tuning differ',
      'TUNING',
      () => tuning(`online:${pathOf('bcast-linear')}`, `online:${pathOf('bcast-binomial')}`),
    ],
  ])('is refused on all processes, before a rank runs: %s', async (_, what, script) => {
    const { code, stdout, stderr } = await differing(script(), flags(pathOf('used.mjs')))
    // Process 0 reports for all.
    expect(stderr.split(`ERR_${what}_MISMATCH`)).toHaveLength(2)
    expect(stderr).toMatch(/process 0 has one with checksum [0-9a-f]{16}, process 1 (none|one with)/)
    expect(stdout).toBe('')
    expect(code).not.toBe(0)
  })
  const machines = (other: string) =>
    `[ "$rank" = 1 ] && exec "$@" ${other}; exec "$@" --machine '${machine}'`

  it.each([
    [
      'an unknown option',
      '--no-such-option',
      'option=--no-such-option || option=--json; exec "$@" "$option"',
    ],
    [
      'an option that would name MPI',
      '--fabrik',
      'option=--fabrik || option=--fabric; exec "$@" "$option" mpi',
    ],
  ])(
    'ends with the reason where one process alone fails before MPI is initialized: %s',
    async (_, said, script) => {
      const { code, stderr } = await differing(
        `[ "$rank" = 1 ] && ${script}`,
        flags('examples/split-grid.ts'),
      )
      expect(stderr).toContain(said)
      expect(code).not.toBe(0)
    },
  )

  it('is refused with the library of the other MPI, by which every process would be its own world', async () => {
    const other = mpi.name === 'MPICH' ? 'libmpi.so.40' : 'libmpich.so.12'
    const { code, stderr } = await runJob(mpi, 2, flags('examples/split-grid.ts', '--mpi-lib', other))
    expect(stderr).toMatch(/ERR_MPI_LIBRARY: .* started 2 processes, but MPI_COMM_WORLD .* has 1/)
    expect(code).not.toBe(0)
  })

  it('prints no colors when the output of the launcher is not a terminal', async () => {
    const { stdout, stderr } = await runJob(mpi, 2, flags('test/support/mpi-output.mjs'))
    expect(stdout.replaceAll('\r', ''), stderr).toContain("a number 42 { text: 'words' }\n")
  })

  it('warns once when copies run worlds of their own', async () => {
    const { stdout, stderr, code } = await runJob(
      mpi,
      2,
      rankweave('run', 'test/support/mpi-output.mjs', '-n', '2'),
    )
    expect(code).toBe(0)
    expect(stdout.match(/a number/g)).toHaveLength(2)
    expect(stderr.match(/\[RANKWEAVE_COPIES\] .* started 2 copies of this program/g)).toHaveLength(1)
  })

  it.each(Object.keys(diagnosed))('names rank, peer, tag and line with --diagnose: %s', async (kind) => {
    const run = rankweave('run', pathOf('lines.ts'), '-n', '4', '--fabric', 'mpi', '--diagnose', '--', kind)
    const { code, stderr } = await runJob(mpi, 2, run)
    expect(code).toBe(3)
    for (const part of diagnosed[kind]!) expect(stderr).toMatch(part)
  })

  it('reports library, processes and nodes once: mpi-info', async () => {
    const { code, stdout } = await runJob(mpi, 2, rankweave('mpi-info', '--json'))
    expect(code).toBe(0)
    expect(onlyObject({ exitCode: 0, stdout, stderr: '' })).toMatchObject({ abi: mpi.name, processes: 2 })
  })

  // Only MPICH's launcher connects to its processes by a file descriptor.
  if (mpi.name !== 'MPICH') return
  it('ends with ERR_MPI_LAUNCHER when the connection of the launcher is closed, as npx closes it', () => {
    const words = [process.execPath, ...rankweave('mpi-info')].map((word) => `'${word}'`).join(' ')
    const script = `eval "exec $PMI_FD>&-"; exec ${words}`
    const { status, stderr } = spawnSync(mpi.mpirun, [...mpi.flags, '-n', '2', 'sh', '-c', script], {
      encoding: 'utf8',
    })
    expect(status).toBe(2)
    expect(stderr).toMatch(/ERR_MPI_LAUNCHER: .* is closed in this process, as npx and npm do: start node/)
    expect(stderr).not.toContain('write_line')
  })
})
