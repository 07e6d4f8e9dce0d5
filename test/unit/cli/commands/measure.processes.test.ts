import { existsSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readMeasurements } from '../../../../src/tuning/measured/read-measurements.js'
import { describeMpi, type Mpi, rankweave, runJob } from '../../../support/mpi.js'
import { compilerOf } from '../../../support/mpi-collectives.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'
import { onlyObject } from '../run-cli.js'
import { spawnCli } from '../spawn-cli.js'

const folder = temporaryFolder('measure')
const measured = (file: string) => readMeasurements(readFileSync(file, 'utf8').split('\n'))
const quick = ['--repetitions', '3', '--budget', '50', '--bytes', '8,1024', '--site', 'here']

/** Runs a command line, and interrupts it once its file has a line. */
async function interrupted(file: string, ...words: readonly string[]) {
  writeFileSync(file, '')
  const watched = new Promise<void>((resolve) => {
    const watcher = watch(file, () => {
      if (!readFileSync(file, 'utf8').includes('\n')) return
      watcher.close()
      resolve()
    })
  })
  return await spawnCli(['measure', ...words, '-o', file], {
    onStart: (kill) => void watched.then(() => kill('SIGINT')),
  })
}

describe('measure', () => {
  it('measures on threads, whose processes share one node', async () => {
    const file = join(folder(), 'threads.jsonl')
    const words = ['allreduce', '--fabric', 'threads', '--processes', '2', '-o', file, '--json']
    const answer = await spawnCli(['measure', ...words, ...quick])
    expect(answer).toMatchObject({ exitCode: 0, stderr: '' })
    const lines = measured(file)
    expect(onlyObject(answer)).toMatchObject({ measured: lines.length, wrong: [] })
    expect(new Set(lines.map(({ order }) => order))).toEqual(new Set(['tree', 'any']))
    for (const { nodes, processesPerNode } of lines) expect([nodes, processesPerNode]).toEqual([1, 2])
  })

  it('measures on processes that WebSockets connect', async () => {
    const file = join(folder(), 'websocket.jsonl')
    const words = ['barrier', '--fabric', 'websocket', '--processes', '2', '-o', file, '--json']
    const answer = await spawnCli(['measure', ...words, ...quick])
    expect(answer).toMatchObject({ exitCode: 0, stderr: '' })
    expect(measured(file).every(({ source }) => source.name === 'websocket')).toBe(true)
  })

  it.each(['local', 'threads', 'websocket'])(
    'ends on Ctrl-C with the points that are done: %s',
    async (fabric) => {
      const file = join(folder(), `interrupted-${fabric}.jsonl`)
      const { exitCode, stdout, stderr } = await interrupted(
        file,
        'bcast',
        '--fabric',
        fabric,
        '--processes',
        '2',
      )
      expect({ exitCode, stdout, stderr }).toEqual({
        ...{ exitCode: 130, stdout: '' },
        stderr: `interrupted: ${file} keeps what was measured\n`,
      })
      expect(readFileSync(file, 'utf8')).toMatch(/\}\n$/)
      expect(measured(file).length).toBeGreaterThan(0)
    },
  )
})

it('measure ends on Ctrl-C while it compiles', async () => {
  const [file, mpicc] = [join(folder(), 'compiling.jsonl'), join(folder(), 'mpicc')]
  // A terminal sends the signal to the compiler as well.
  writeFileSync(mpicc, '#!/bin/sh\nkill -INT $PPID\nkill -INT $$\n', { mode: 0o755 })
  const words = ['bcast', '--source', 'mpi', '--launch', 'true', '--mpicc', mpicc, '-o', file]
  const answer = await spawnCli(['measure', ...words])
  expect(answer).toEqual({
    ...{ exitCode: 130, stdout: '' },
    stderr: `interrupted: ${file} keeps what was measured\n`,
  })
})

function launchOf({ env, mpirun, flags }: Mpi, processes: number): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  return ['env', ...variables, mpirun, ...flags, '-n', processes].join(' ')
}

describeMpi('measure', (mpi) => {
  const mpicc = compilerOf(mpi)
  const name = mpi.name.replace(' ', '-')

  it.skipIf(mpicc === null)("has a library's own algorithms in one job", async () => {
    const file = join(folder(), `${name}.jsonl`)
    const words = ['measure', 'allgather', 'barrier', '--source', 'mpi', '--mpicc', mpicc!, ...quick]
    const answer = await spawnCli([...words, '--launch', launchOf(mpi, 3), '-o', file, '--json'])
    expect(answer).toMatchObject({ exitCode: 0, stderr: '' })
    const lines = measured(file)
    expect(onlyObject(answer)).toMatchObject({ measured: lines.length, refused: 0, wrong: [] })
    expect(lines[0].source).toMatchObject({ kind: 'mpi', name: expect.stringMatching(`^${mpi.name} \\d`) })
    const ofThree = lines.filter(
      ({ collective, processesPerNode }) => collective === 'allgather' && processesPerNode === 3,
    )
    const names = new Set(ofThree.map(({ algorithm }) => algorithm))
    expect(names).toContain('default')
    expect(names).toContain('ring')
    expect(names).not.toContain('recursive_doubling')
  })

  it.skipIf(mpicc === null)('refuses algorithms that the library does not name', async () => {
    const file = join(folder(), `nonsense-${name}.jsonl`)
    const words = ['measure', 'allgather', 'barrier', '--source', 'mpi', '--mpicc', mpicc!, ...quick]
    const launch = ['--launch', launchOf(mpi, 2), '-o', file]
    const answer = await spawnCli([...words, ...launch, '--algorithm', 'ring', 'nonsense'])
    expect([answer.exitCode, answer.stdout]).toEqual([2, ''])
    expect(answer.stderr).toMatch(
      /ERR_MEASUREMENT: .*of allgather: default, .*ring.*; of barrier: default.*'nonsense'/,
    )
    expect(existsSync(file)).toBe(false)
  })

  it.skipIf(mpicc === null)('refuses a job whose variables leave settings without effect', async () => {
    const file = join(folder(), `preset-${name}.jsonl`)
    const [variable, set] =
      mpi.name === 'Open MPI'
        ? ['coll_tuned_use_dynamic_rules', 'OMPI_MCA_coll_tuned_use_dynamic_rules=0']
        : ['MPIR_CVAR_DEVICE_COLLECTIVES', 'MPIR_CVAR_DEVICE_COLLECTIVES=all']
    const words = ['measure', 'bcast', '--source', 'mpi', '--mpicc', mpicc!, ...quick, '-o', file]
    const answer = await spawnCli([...words, '--launch', `env ${set} ${launchOf(mpi, 2)}`])
    expect(answer).toMatchObject({ exitCode: 2, stdout: '' })
    expect(answer.stderr).toContain(`ERR_MEASUREMENT: expected control variable ${variable} to be`)
    expect(existsSync(file)).toBe(false)
  })

  it.skipIf(mpicc === null)('ends a job on Ctrl-C with the points that are done', async () => {
    const file = join(folder(), `interrupted-${name}.jsonl`)
    const words = ['bcast', '--source', 'mpi', '--mpicc', mpicc!, '--launch', launchOf(mpi, 2)]
    const { exitCode, stdout, stderr } = await interrupted(file, ...words)
    expect([exitCode, stdout]).toEqual([130, ''])
    expect(stderr).toContain(`interrupted: ${file} keeps what was measured\n`)
    expect(measured(file).length).toBeGreaterThan(0)
  })

  it.skipIf(mpicc === null)('fails with exit code 3 when a job ends before its time', async () => {
    const [file, launcher] = [join(folder(), `ended-${name}.jsonl`), join(folder(), `launcher-${name}`)]
    // The job reads no order after its first call.
    writeFileSync(launcher, `sed -u /^call/q | ${launchOf(mpi, 2)} "$@"\n`)
    const words = ['bcast', '--source', 'mpi', '--mpicc', mpicc!, '--launch', `sh ${launcher}`]
    const answer = await spawnCli(['measure', ...words, ...quick, '-o', file])
    expect(answer).toMatchObject({ exitCode: 3, stdout: '' })
    expect(answer.stderr).toContain('ERR_MEASUREMENT: sh ended with exit code 0')
  })

  it('has the own algorithms of rankweave in a job that a launcher starts', async () => {
    const file = join(folder(), `own-${name}.jsonl`)
    const words = ['measure', 'bcast', '--fabric', 'mpi', ...quick, '-o', file, '--json']
    const { code, stdout } = await runJob(mpi, 2, rankweave(...words))
    expect(code).toBe(0)
    const lines = measured(file)
    expect(onlyObject({ exitCode: code!, stdout, stderr: '' })).toMatchObject({ measured: lines.length })
    expect(lines[0].source).toMatchObject({ kind: 'rankweave', name: 'mpi' })
  })
})
