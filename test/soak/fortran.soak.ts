import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, it } from 'vitest'
import { plan } from '../../src/neighborhood/plan/plan.js'
import { planWords } from '../../src/shim/plan-words.js'
import { parseEdgeList } from '../../src/topology/files/edge-list.js'
import type { TuningFile } from '../../src/tuning/models/tuning-file.js'
import { describeMpiInTurn, type Mpi } from '../support/mpi.js'
import { compilerOf } from '../support/mpi-collectives.js'
import { treeBySize, tuningFileOf } from '../support/mpi-tuning-file.js'
import { matchingIn, operationWords, otherMatchesOf } from '../support/recorded-calls.js'
import { compileShim, runPreloaded } from '../support/shim.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { onlyObject } from '../unit/cli/run-cli.js'
import { command, spawnCli } from '../unit/cli/spawn-cli.js'

const sourceOf = (name: string) => fileURLToPath(new URL(`../support/shim/${name}.F90`, import.meta.url))

/** The Fortran compiler of an MPI, or null, whose reason is printed. */
function fortranOf({ name, mpirun }: Mpi): string | null {
  const compiler = mpirun.replace('mpirun', 'mpifort')
  if (spawnSync(compiler, ['--version'], { stdio: 'ignore' }).status === 0) return compiler
  const reason = `programs in Fortran are not run on ${name}: ${compiler} or its compiler is missing (apt-get install gfortran)`
  if (process.env['RANKWEAVE_REQUIRE_MPI'] === '1') throw new Error(reason)
  console.warn(reason)
  return null
}

/** One setting for each collective. */
function decisionsOf(name: Mpi['name']): TuningFile['decisions'] {
  const isMpich = name === 'MPICH'
  return {
    barrier: treeBySize('barrier', [isMpich ? 'dissemination' : 'double_ring']),
    bcast: treeBySize('bcast', [isMpich ? 'nb' : 'pipeline']),
    scatter: treeBySize('scatter', ['binomial']),
    gather: treeBySize('gather', ['binomial']),
    allgather: treeBySize('allgather', ['ring']),
    reduce: treeBySize('reduce', ['binomial']),
    allreduce: treeBySize('allreduce', ['recursive_doubling']),
    'reduce-scatter': treeBySize('reduce-scatter', [isMpich ? 'pairwise' : 'butterfly']),
    alltoall: treeBySize('alltoall', ['pairwise']),
    scan: treeBySize('scan', ['recursive_doubling']),
    exscan: treeBySize('exscan', ['recursive_doubling']),
  }
}

describeMpiInTurn('a Fortran program with the preloaded library', (mpi) => {
  const mpicc = compilerOf(mpi)
  const mpifort = fortranOf(mpi)
  const folder = temporaryFolder('fortran')
  let library: string

  beforeAll(() => {
    if (mpicc !== null && mpifort !== null) library = compileShim(folder(), mpicc).library
  })

  // Entry points behind mpi_f08 of MPICH are not intercepted: its calls are left to MPI.
  const planned = [3, 6, 6]
  const modules = [
    ['mpif.h', 'WITH_MPIF', planned],
    ['use mpi', 'WITH_MODULE', planned],
    ['use mpi_f08', 'WITH_F08', mpi.name === 'MPICH' ? [] : planned],
  ] as const
  const compiled = (define: string, name = 'neighbors'): string => {
    const program = join(folder(), `${name}-${define}`)
    execFileSync(mpifort!, [
      '-O1',
      `-D${define}`,
      '-fallow-argument-mismatch',
      '-J',
      folder(),
      '-o',
      program,
      sourceOf(name),
    ])
    return program
  }

  it.skipIf(mpicc === null || mpifort === null).each(modules)(
    'gets right data, in the settings of a tuning file: %s',
    async (_, define) => {
      const program = compiled(define, 'tuned')
      const file = join(folder(), 'tuning.json')
      const run = () =>
        runPreloaded(mpi, 4, library, [program], {
          RANKWEAVE_SHIM: `tune:${file},report`,
          RANKWEAVE_SHIM_TUNE_PER_COMMUNICATOR: '11',
        })
      const write = (name: string) =>
        writeFileSync(file, JSON.stringify(tuningFileOf(name, decisionsOf(mpi.name))))
      write('another library 1')
      const refused = await run()
      expect(refused.stdout).toBe('right: 0 wrong elements\n')
      // Nothing reads a file there, since MPI_Init is not intercepted.
      if (mpi.name === 'MPICH' && define === 'WITH_F08') return expect(refused.stderr).toBe('')
      write(/this program uses (.*)$/m.exec(refused.stderr)![1])
      const ended = await run()
      expect(ended).toMatchObject({ code: 0, stdout: 'right: 0 wrong elements\n' })
      const collectives = Object.keys(decisionsOf(mpi.name))
      const used = collectives.filter((name) =>
        ended.stderr.match(new RegExp(`shim: ${name} .* in the setting`)),
      )
      expect(used).toEqual(collectives)
    },
  )

  it.skipIf(mpicc === null || mpifort === null).each(modules)(
    'gets right data, by plans: %s',
    async (_, define, calls) => {
      const program = compiled(define)
      const ended = await runPreloaded(mpi, 5, library, [program], { RANKWEAVE_SHIM: 'always,report' })
      expect(ended).toMatchObject({ code: 0, stdout: 'right: 0 wrong elements\n' })
      // Six allgathers and six alltoalls on the graph, three allgathers on the grid.
      const byPlan = [...ended.stderr.matchAll(/(\d+) by the plan/g)].map(([, count]) => Number(count))
      expect(byPlan.sort()).toEqual(calls)
    },
  )

  it.skipIf(mpicc === null || mpifort === null).each(modules)(
    'has its ranks reordered: %s',
    async (_, define, calls) => {
      const program = compiled(define, 'reorder')
      const env = { RANKWEAVE_SHIM: 'reorder', RANKWEAVE_SHIM_CORES: '2' }
      const ended = await runPreloaded(mpi, 6, library, [program], env)
      const moved = calls.length === 0 ? '0 0 0 0 0' : '4 4 4 4 4'
      expect(ended).toEqual({ code: 0, stdout: `0 wrong, moved ${moved}\n`, stderr: '' })
    },
  )

  it.skipIf(mpicc === null || mpifort === null).each(modules)(
    'has its matching recorded: %s',
    async (_, define, calls) => {
      const program = compiled(define, 'matching')
      const path = join(folder(), `matching-${define}.calls`)
      const ended = await runPreloaded(mpi, 2, library, [program], { RANKWEAVE_SHIM: `matching:${path}` })
      expect(ended).toEqual({ code: 0, stdout: 'done\n', stderr: '' })
      if (calls.length === 0) return expect(existsSync(path)).toBe(false)
      const tags = [1, 2, 3, 4, 5, 6, 7, 8]
      const recorded = matchingIn(path, 2)
      expect(operationWords(recorded.process(0).operations)).toEqual([
        ...tags.map(() => 'post 1:*/*'),
        ...[...tags.map((tag) => `arrive 1:1/${tag}`), 'arrive 0:1/50', 'probe 0:1/50', 'post 0:1/50'],
        ...['post 0:1/51', 'cancel 9', 'post 1:0/60', 'arrive 1:0/60'],
        ...[1, 2].flatMap(() => ['post 1:0/61', 'arrive 1:0/61']),
      ])
      expect(otherMatchesOf(recorded, 0)).toBe(0)
    },
  )

  it.skipIf(mpicc === null || mpifort === null).each(modules)(
    'is recorded, and runs the plan of its file: %s',
    async (_, define, calls) => {
      const program = compiled(define)
      const words = [
        'record',
        '--json',
        '-o',
        'graph.txt',
        '--',
        mpi.mpirun,
        ...mpi.flags,
        '-n',
        '5',
        program,
      ]
      const variables = Object.entries(mpi.env).map(([name, value]) => `${name}=${value}`)
      const recorded = await spawnCli(words, { cwd: folder(), command: ['env', ...variables, ...command] })
      if (calls.length === 0) {
        expect(recorded.exitCode).toBe(2)
        expect(recorded.stderr).toContain('ERR_SHIM')
        return
      }
      expect(onlyObject(recorded)['graphs']).toMatchObject([
        {
          ...{ file: 'graph.txt', ranks: 5, edges: 15 },
          functions: {
            MPI_Neighbor_allgather: { calls: 3 },
            MPI_Neighbor_allgatherv: { calls: 3 },
            MPI_Neighbor_alltoall: { calls: 3 },
            MPI_Neighbor_alltoallv: { calls: 3 },
          },
        },
        { file: 'graph-2.txt', ranks: 5, edges: 8, functions: { MPI_Neighbor_allgather: { calls: 3 } } },
      ])
      const topology = parseEdgeList(readFileSync(join(folder(), 'graph.txt'), 'utf8'))
      const planFile = join(folder(), 'plan.rwplan')
      writeFileSync(planFile, planWords(plan(topology, { kind: 'routed' }).schedule))
      const ended = await runPreloaded(mpi, 5, library, [program], {
        RANKWEAVE_SHIM: 'always,report',
        RANKWEAVE_SHIM_PLAN: planFile,
      })
      expect(ended).toMatchObject({ code: 0, stdout: 'right: 0 wrong elements\n' })
      expect(ended.stderr).toContain('6 by the plan (plan file 1')
    },
  )
})
