import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { plan } from '../../src/neighborhood/plan/plan.js'
import { planWords } from '../../src/shim/plan-words.js'
import { parseEdgeList } from '../../src/topology/files/edge-list.js'
import type { TuningFile } from '../../src/tuning/models/tuning-file.js'
import { callFilesOf, disagreements, recordsByCall } from '../support/call-folders.js'
import { describeMpiInTurn, type Mpi } from '../support/mpi.js'
import { otherChoices, worldKey } from '../support/mpi-online.js'
import { treeBySize } from '../support/mpi-tuning-file.js'
import { matchingIn, operationWords, otherMatchesOf } from '../support/recorded-calls.js'
import { reportedCalls } from '../support/reported-calls.js'
import { describeShim, sourceOf } from '../support/shim.js'
import { onlyObject } from '../unit/cli/run-cli.js'
import { command, spawnCli } from '../unit/cli/spawn-cli.js'

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

describeShim(
  'a Fortran program with the preloaded library',
  (shim) => {
    const { mpi } = shim
    const mpifort = fortranOf(mpi)

    // Entry points behind mpi_f08 of MPICH are not intercepted: its calls are left to MPI.
    const planned = [3, 6, 6]
    const modules = [
      ['mpif.h', 'WITH_MPIF', planned],
      ['use mpi', 'WITH_MODULE', planned],
      ['use mpi_f08', 'WITH_F08', mpi.name === 'MPICH' ? [] : planned],
    ] as const
    const compiled = (define: string, name = 'neighbors', ...more: readonly string[]): string => {
      const program = shim.path(`${name}-${define}`)
      if (existsSync(program)) return program
      const flags = ['-O1', `-D${define}`, ...more, '-fallow-argument-mismatch', '-J', shim.path('')]
      execFileSync(mpifort!, [...flags, '-o', program, sourceOf(`${name}.F90`)])
      return program
    }

    describe.skipIf(mpifort === null).each(modules)('by %s', (_, define, calls) => {
      const isLeft = calls.length === 0
      const right = { code: 0, stdout: 'right: 0 wrong elements\n' }

      it('gets right data, in the settings of a tuning file', async () => {
        const decisions = decisionsOf(mpi.name)
        const ended = await shim.start(4, [compiled(define, 'tuned')], {
          RANKWEAVE_SHIM: `tune:${shim.writeTuning('tuning.json', decisions)},report`,
          RANKWEAVE_SHIM_TUNE_PER_COMMUNICATOR: '11',
        })
        expect(ended).toMatchObject(right)
        // Nothing reads a file there, since MPI_Init is not intercepted.
        if (isLeft) return expect(ended.stderr).toBe('')
        const collectives = Object.keys(decisions)
        const used = collectives.filter((name) =>
          ended.stderr.match(new RegExp(`shim: ${name} .* in the setting`)),
        )
        expect(used).toEqual(collectives)
      })

      it('sends no blocks of all-to-alls that are empty', async () => {
        const ended = await shim.start(4, [compiled(define, 'sparse')], { RANKWEAVE_SHIM: 'always,report' })
        expect(ended).toMatchObject(right)
        const functions = reportedCalls(ended.stderr).map(({ name, outcomes }) => [name, outcomes])
        const left = 'left to MPI: MPI itself sends nothing for counts of zero'
        const inPlace = 'left to MPI: blocks are exchanged in place'
        expect(functions).toEqual(
          isLeft
            ? []
            : [
                ['MPI_Alltoallv', { 'sent directly': 12, [inPlace]: 12 }],
                ['MPI_Alltoallw', { 'sent directly': 12 }],
                ['MPI_Ialltoallv', { [left]: 12 }],
              ],
        )
      })

      it('has its non-blocking reductions made reproducible, and its persistent ones reported', async () => {
        const init = mpi.name === 'MPICH' ? 'MPI_Allreduce_init' : 'MPIX_Allreduce_init'
        // The module mpi_f08 of Open MPI 4 has no persistent reductions.
        const hasInit = mpi.name === 'MPICH' || define !== 'WITH_F08'
        const program = compiled(define, 'reductions', ...(hasInit ? [`-DINIT=${init}`] : []))
        const ended = await shim.start(3, [program], { RANKWEAVE_SHIM: 'reproducible,report' })
        expect(ended).toMatchObject(right)
        const lines = [...ended.stderr.matchAll(/reproducible: (.*): 1 call (.*)/g)]
        expect(lines.map(([, name, outcome]) => `${name}: ${outcome}`)).toEqual(
          isLeft
            ? []
            : [
                'MPI_Reduce: left to MPI: exact in any order',
                'MPI_Ireduce: by the fixed tree',
                'MPI_Iallreduce: by the fixed tree',
                ...(hasInit ? ['MPI_Allreduce_init: left to MPI: a persistent request'] : []),
                ...['reduce_scatter', 'scan', 'exscan', 'reduce_scatter_block'].map(
                  (name) => `MPI_I${name}: by the fixed tree`,
                ),
              ],
        )
      })

      it('has its ranks reordered', async () => {
        const env = { RANKWEAVE_SHIM: 'reorder', RANKWEAVE_SHIM_CORES: '2' }
        const moved = isLeft ? '0 0 0 0 0' : '4 4 4 4 4'
        expect(await shim.start(6, [compiled(define, 'reorder')], env)).toEqual({
          ...{ code: 0, stdout: `0 wrong, moved ${moved}\n`, stderr: '' },
        })
      })

      it('has its matching recorded', async () => {
        const path = shim.path(`matching-${define}.calls`)
        const env = { RANKWEAVE_SHIM: `matching:${path}` }
        const ended = await shim.start(2, [compiled(define, 'matching')], env)
        expect(ended).toEqual({ code: 0, stdout: 'done\n', stderr: '' })
        if (isLeft) return expect(existsSync(path)).toBe(false)
        const tags = [1, 2, 3, 4, 5, 6, 7, 8]
        const recorded = matchingIn(path, 2)
        expect(operationWords(recorded.process(0).operations)).toEqual([
          ...tags.map(() => 'post 1:*/*'),
          ...[...tags.map((tag) => `arrive 1:1/${tag}`), 'arrive 0:1/50', 'probe 0:1/50', 'post 0:1/50'],
          ...['post 0:1/51', 'cancel 9', 'post 1:0/60', 'arrive 1:0/60'],
          ...[1, 2].flatMap(() => ['post 1:0/61', 'arrive 1:0/61']),
        ])
        expect(otherMatchesOf(recorded, 0)).toBe(0)
      })

      it('gets right data by plans, is recorded, and runs the plan of its file', async () => {
        const program = compiled(define)
        // Six allgathers and six alltoalls on the graph, three allgathers on the grid.
        const ended = await shim.start(5, [program], { RANKWEAVE_SHIM: 'always,report' })
        expect(ended).toMatchObject(right)
        const byPlan = [...ended.stderr.matchAll(/(\d+) by the plan/g)].map(([, count]) => Number(count))
        expect(byPlan.sort()).toEqual(calls)
        const words = ['record', '--json', '-o', 'graph.txt', '--library', shim.library, '--']
        const variables = Object.entries(mpi.env).map(([name, value]) => `${name}=${value}`)
        const recorded = await spawnCli([...words, mpi.mpirun, ...mpi.flags, '-n', '5', program], {
          cwd: shim.path(''),
          command: ['env', ...variables, ...command],
        })
        // No profiler lies beside the library, which does not see the calls.
        if (isLeft) return expect(onlyObject(recorded)).toMatchObject({ graphs: [], profile: null })
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
        const topology = parseEdgeList(readFileSync(shim.path('graph.txt'), 'utf8'))
        const planFile = shim.path('plan.rwplan')
        writeFileSync(planFile, planWords(plan(topology, { kind: 'routed' }).schedule))
        const env = { RANKWEAVE_SHIM: 'always,report', RANKWEAVE_SHIM_PLAN: planFile }
        const again = await shim.start(5, [program], env)
        expect(again).toMatchObject(right)
        expect(again.stderr).toContain('6 by the plan (plan file 1')
      })
    })

    it.skipIf(mpifort === null)('has each call chosen for and recorded once', async () => {
      const path = shim.path('runs')
      const program = compiled('WITH_MPIF', 'tuned')
      const ended = await shim.start(4, [program], { RANKWEAVE_SHIM: `online:${path}` })
      expect(ended).toEqual({ code: 0, stdout: 'right: 0 wrong elements\n', stderr: '' })
      const [file] = callFilesOf(path)
      expect(disagreements(file)).toEqual([])
      expect(otherChoices(file, new Map([[0, worldKey]]))).toEqual([])
      // Of 20 rounds: a bcast, two allreduce, an allgather and an alltoall.
      expect(file.records.get(0)).toHaveLength(100)
      expect(recordsByCall(file).size).toBe(100)
    })
  },
  describeMpiInTurn,
)
