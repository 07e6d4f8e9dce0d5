import { fileURLToPath } from 'node:url'
import type { Bench } from './bench.js'
import type { BuiltPrograms } from './build-programs.js'
import { type Case, ratioAtMost, type Suite } from './comparison.js'
import { measureSuites } from './measure-suites.js'
import type { MpiName } from './mpi-library.js'

/** In `test/matrices`. */
const files = {
  dwt_2680: 'dwt_2680.mtx',
  can_1072: 'can_1072.mtx',
  bcspwr10: 'bcspwr10.mtx',
  mbeacxc: 'mbeacxc.mtx.gz',
} as const
type Matrix = keyof typeof files

const layouts = [
  { name: 'spread', ranks: 16, processes: 16, said: '16 ranks, one per process' },
  { name: 'lowered', ranks: 64, processes: 2, said: '64 ranks on 2 processes' },
] as const

const width = 8
const turns = 15

/** Products by the strategy that `auto` finds, compared with the better of direct sends and an ordinary allgather. */
export const spmmBench: Bench = {
  name: 'spmm',
  question:
    'Is the strategy that auto finds as fast as the better of direct sends and an ordinary allgather?',
  measure: (options = {}) => measureSuites(['Open MPI', 'MPICH'], suitesOf, [], options),
}

function suitesOf(built: BuiltPrograms, mpi: MpiName): readonly Suite[] {
  const prefix = mpi === 'Open MPI' ? 'openmpi' : 'mpich'
  const matrices = Object.keys(files) as Matrix[]
  const paths = Object.fromEntries(
    matrices.map((key) => [key, fileURLToPath(new URL(`../test/matrices/${files[key]}`, import.meta.url))]),
  )
  return layouts.map(({ name, ranks, processes, said }): Suite => {
    const world = { program: 'spmm', ranks, processes, args: { files: paths, width, turns } }
    const of = (matrix: Matrix, against: 'best' | 'direct' | 'allgather'): Case => ({
      case: `${mpi}: SpMM ${matrix} x ${width} columns, ${said}, auto vs ${words[against]}`,
      unit: 'us',
      ours: 'ours',
      key: `${matrix} auto`,
      baselines: ['ours'],
      baselineKey: `${matrix} ${against}`,
      ...(against === 'best' ? { target: ratioAtMost(1.05) } : {}),
      details: { mpi, matrix, ranks, processes },
    })
    return {
      name: `${prefix}-${name}`,
      runs: 3,
      implementations: [built.onMpi('ours', mpi, world, 300)],
      cases: matrices.flatMap((matrix) => [
        of(matrix, 'best'),
        of(matrix, 'direct'),
        of(matrix, 'allgather'),
      ]),
    }
  })
}

const words = {
  best: 'the better of direct sends and an ordinary allgather',
  direct: 'direct sends',
  allgather: 'an ordinary allgather',
} as const
