import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { closedGrid } from '../../src/tuning/models/decision-grid.js'
import { readTuningFile } from '../../src/tuning/models/read-tuning-file.js'
import { cellAxes, countCells } from '../../src/tuning/settings/call-cells.js'
import { callFilesOf, disagreements, recordsByCall } from '../support/call-folders.js'
import { describeMpi } from '../support/mpi.js'
import { compilerOf } from '../support/mpi-collectives.js'
import { otherChoices, worldKey } from '../support/mpi-online.js'
import { settingOf, tuningFileOf } from '../support/mpi-tuning-file.js'
import { compileOther, compileProgram, compileShim, runPreloaded } from '../support/shim.js'
import { perTier } from '../support/soak.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const command = new URL('../../dist/cli/main.js', import.meta.url).pathname
const right = { code: 0, stdout: 'right\n', stderr: '' }
const calls = perTier({ test: 200, soak: 1000, long: 10_000 })

describeMpi('online tuning of MPI programs', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('online-mpi')
  const skipped = it.skipIf(mpicc === null)
  // Waiting processes of MPICH do not give up their core.
  const ranks = mpi.name === 'MPICH' ? 5 : 32
  let library: string
  let program: string

  const pathOf = (name: string) => join(folder(), name)
  const start = (processes: number, args: readonly string[], words: string, preloaded = library) =>
    runPreloaded(mpi, processes, preloaded, [program, ...args], { RANKWEAVE_SHIM: words })

  beforeAll(() => {
    if (mpicc === null) return
    library = compileShim(folder(), mpicc).library
    program = compileProgram(folder(), mpicc, 'online', ['-pthread'])
  })

  skipped.each([1, 2])(`gives right data on random parts of ${ranks} ranks, seed %i`, async (seed) => {
    const path = pathOf(`random-${seed}`)
    const words = `online:${path},calls=1048576,seed=${seed}`
    expect(await start(ranks, ['random', String(calls), String(seed)], words)).toEqual(right)
    const [file] = callFilesOf(path)
    expect(disagreements(file)).toEqual([])
    expect(otherChoices(file, new Map([[0, worldKey]]))).toEqual([])
    const sizes = new Map(file.communicators.map(({ id, processes }) => [id, processes]))
    const byCall = recordsByCall(file)
    for (const [call, records] of byCall)
      expect([call, records.length]).toEqual([call, sizes.get(Number(call.split(' ')[0]))])
    expect(byCall.size).toBeGreaterThan(calls / 2)
    expect(file.communicators.length).toBeGreaterThan(12)
  })

  skipped('gives right data when it explores and takes what it has learned', async () => {
    const path = pathOf('learned')
    const words = `online:${path},calls=${calls}`
    for (const seed of [1, 2, 3])
      expect(await start(4, ['world', String(calls)], `${words},seed=${seed}`)).toEqual(right)
    execFileSync(process.execPath, [command, 'learn', path], { stdio: 'ignore' })
    const model = readTuningFile(readFileSync(join(path, 'model.json'), 'utf8'))
    for (const mode of ['tuning', 'tuned'])
      for (const args of [['random', '400', '5'], ['odd'], ['parts', '40'], ['threads', '20']]) {
        // Of several threads fewer settings serve: nothing may change the radix of trees in a call.
        const seed = args[0] === 'threads' ? 8 : 9
        const { code, stdout } = await start(4, args, `${words},seed=${seed},mode=${mode}`)
        expect({ args, code, stdout }).toEqual({ args, code: 0, stdout: 'right\n' })
      }
    const files = callFilesOf(path).filter(({ seed }) => seed === 9)
    expect(files).toHaveLength(6)
    for (const file of files) {
      expect(disagreements(file)).toEqual([])
      expect(otherChoices(file, new Map([[0, worldKey]]), model)).toEqual([])
    }
  })

  skipped('records many runs at once into one folder', async () => {
    const path = pathOf('many')
    const seeds = [1, 2, 3, 4, 5, 6]
    const all = seeds.map((seed) => start(2, ['world', '40'], `online:${path},seed=${seed}`))
    for (const ended of await Promise.all(all)) expect(ended).toEqual(right)
    expect(
      callFilesOf(path)
        .map(({ seed }) => seed)
        .sort(),
    ).toEqual(seeds)
    expect(readdirSync(path).filter((name) => !name.endsWith('.calls'))).toEqual([])
  })

  if (mpi.name === 'Open MPI')
    skipped.each([
      ['allgather', 'ring', 'allgather_intra_ring'],
      ['alltoall', 'modified_bruck', 'alltoall_intra_bruck'],
      ['allreduce', 'basic_linear', 'allreduce_intra_basic_linear'],
      ['bcast', 'pipeline:segment=1024', 'bcast_intra_pipeline'],
    ] as const)('%s by the best setting %s runs %s once a call', async (collective, setting, algorithm) => {
      const path = pathOf(`best-${collective}`)
      const many = compileProgram(folder(), mpicc!, 'tuned', ['-pthread'])
      const words = [many, 'many', collective, '250', '50']
      const run = (mode: string) => {
        const seen = compileOther(folder(), mpicc!, 'seen')
        const env = { RANKWEAVE_SHIM: `online:${path},mode=${mode}` }
        return runPreloaded(mpi, 4, `${library}:${seen}`, words, env)
      }
      await run('tuning')
      const { name, machine } = callFilesOf(path)[0].source
      const axes = cellAxes({ nodes: 1, processesPerNode: 1 })
      const grid = closedGrid({
        ...{ settings: [settingOf(collective, setting)], axes, isTrained: true },
        ...{ best: new Int32Array(countCells(axes)).fill(1), performances: undefined },
      })
      const file = tuningFileOf(name, { [collective]: grid }, machine)
      writeFileSync(join(path, 'model.json'), JSON.stringify(file))
      const { stdout, stderr } = await run('tuned')
      expect(stderr).toBe('')
      const times = Number(new RegExp(`^seen ${algorithm} (\\d+)$`, 'm').exec(stdout)?.[1])
      // The library's own calls in MPI_Init and MPI_Finalize may come on top.
      expect(times).toBeGreaterThanOrEqual(50)
      expect(times).toBeLessThan(60)
    })

  const mpifort = mpi.mpirun.replace('mpirun', 'mpifort')
  const hasFortran = spawnSync(mpifort, ['--version'], { stdio: 'ignore' }).status === 0
  it.skipIf(mpicc === null || !hasFortran)('chooses and records each call of Fortran once', async () => {
    const source = new URL('../support/shim/tuned.F90', import.meta.url).pathname
    const fortran = pathOf('fortran')
    execFileSync(mpifort, ['-o', fortran, source], { cwd: folder(), stdio: 'ignore' })
    const path = pathOf('fortran-runs')
    const ended = await runPreloaded(mpi, 4, library, [fortran], { RANKWEAVE_SHIM: `online:${path}` })
    expect(ended).toMatchObject({ code: 0, stdout: 'right: 0 wrong elements\n', stderr: '' })
    const [file] = callFilesOf(path)
    expect(disagreements(file)).toEqual([])
    expect(otherChoices(file, new Map([[0, worldKey]]))).toEqual([])
    // Of 20 rounds: a bcast, two allreduce, an allgather and an alltoall.
    expect(file.records.get(0)).toHaveLength(100)
    expect(recordsByCall(file).size).toBe(100)
  })
})
