import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readMeasurements } from '../../../../src/tuning/measured/measurement.js'
import { measureInterrupted } from '../../../support/measure-interrupted.js'
import { describeMpi, launchWords, rankweave, runJob } from '../../../support/mpi.js'
import { compilerOf } from '../../../support/mpi-collectives.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'
import { onlyObject } from '../run-cli.js'
import { spawnCli } from '../spawn-cli.js'

const folder = temporaryFolder('measure')
const measured = (file: string) => readMeasurements(readFileSync(file, 'utf8').split('\n'))
const quick = ['--repetitions', '3', '--budget', '50', '--bytes', '8,1024', '--site', 'here']

describeMpi('measure', (mpi) => {
  const mpicc = compilerOf(mpi)
  const compiling = it.skipIf(mpicc === null)
  const name = mpi.name.replace(' ', '-')
  const launch = (processes: number) => launchWords(mpi, processes).join(' ')

  compiling("has a library's own algorithms in one job", async () => {
    const file = join(folder(), `${name}.jsonl`)
    const words = ['measure', 'allgather', 'barrier', '--source', 'mpi', '--mpicc', mpicc!, ...quick]
    const answer = await spawnCli([...words, '--launch', launch(3), '-o', file, '--json'])
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

  compiling('refuses algorithms that the library does not name', async () => {
    const file = join(folder(), `nonsense-${name}.jsonl`)
    const words = ['measure', 'allgather', 'barrier', '--source', 'mpi', '--mpicc', mpicc!, ...quick]
    const job = ['--launch', launch(2), '-o', file]
    const answer = await spawnCli([...words, ...job, '--algorithm', 'ring', 'nonsense'])
    expect([answer.exitCode, answer.stdout]).toEqual([2, ''])
    expect(answer.stderr).toMatch(
      /ERR_MEASUREMENT: .*of allgather: default, .*ring.*; of barrier: default.*'nonsense'/,
    )
    expect(existsSync(file)).toBe(false)
  })

  compiling('refuses a job whose variables leave settings without effect', async () => {
    const file = join(folder(), `preset-${name}.jsonl`)
    const [variable, set] =
      mpi.name === 'Open MPI'
        ? ['coll_tuned_use_dynamic_rules', 'OMPI_MCA_coll_tuned_use_dynamic_rules=0']
        : ['MPIR_CVAR_DEVICE_COLLECTIVES', 'MPIR_CVAR_DEVICE_COLLECTIVES=all']
    const words = ['measure', 'bcast', '--source', 'mpi', '--mpicc', mpicc!, ...quick, '-o', file]
    const answer = await spawnCli([...words, '--launch', `env ${set} ${launch(2)}`])
    expect(answer).toMatchObject({ exitCode: 2, stdout: '' })
    expect(answer.stderr).toContain(`ERR_MEASUREMENT: expected control variable ${variable} to be`)
    expect(existsSync(file)).toBe(false)
  })

  compiling('ends a job on Ctrl-C with the points that are done', async () => {
    const file = join(folder(), `interrupted-${name}.jsonl`)
    const words = ['bcast', '--source', 'mpi', '--mpicc', mpicc!, '--launch', launch(2)]
    const { exitCode, stdout, stderr } = await measureInterrupted(file, ...words)
    expect([exitCode, stdout]).toEqual([130, ''])
    expect(stderr).toContain(`interrupted: ${file} keeps what was measured\n`)
    expect(measured(file).length).toBeGreaterThan(0)
  })

  compiling('fails with exit code 3 when a job ends before its time', async () => {
    const [file, launcher] = [join(folder(), `ended-${name}.jsonl`), join(folder(), `launcher-${name}`)]
    // The job reads no order after its first call.
    writeFileSync(launcher, `sed -u /^call/q | ${launch(2)} "$@"\n`)
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
