import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileProfiler } from '../../src/profile/profile.js'
import { type Bench, median, ownFigure } from '../bench.js'
import { findMpi, type MpiLibrary, type MpiName } from '../mpi-library.js'
import { runWithTimeout } from '../run-with-timeout.js'

const source = fileURLToPath(new URL('rounds.c', import.meta.url))
const targetNs = 100
const mpis: readonly MpiName[] = ['Open MPI', 'MPICH']
const modes = ['profile', 'time'] as const

/** What the profiler adds to a call: runs with it and without it take turns. */
export const profileBench: Bench = {
  name: 'profile',
  question: 'What does the preloaded profiler add to a call of MPI?',
  async *measure({ quick = false, runs = quick ? '3' : '9', only = '' } = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'rankweave-bench-'))
    try {
      for (const name of mpis.filter((mpi) => mpi.startsWith(only))) {
        const mpi = findMpi(name)
        if ('missing' in mpi) throw new Error(mpi.missing)
        const program = join(folder, 'rounds')
        execFileSync(mpi.mpicc, ['-O3', '-o', program, source])
        const library = compileProfiler(folder, mpi.mpicc)
        for (const processes of [1, 2]) {
          const timed = (mode: string | null) => timeOf(mpi, processes, program, { library, mode, folder })
          const added: Record<string, number[]> = { profile: [], time: [] }
          const without: number[] = []
          for (let run = 0; run < Number(runs); run++) {
            const base = await timed(null)
            without.push(base)
            for (const mode of modes) added[mode].push((await timed(mode)) - base)
          }
          const what = processes === 1 ? 'to itself' : 'ping-pong'
          for (const mode of modes)
            yield ownFigure(
              `${name}: 8 bytes ${what}, mode ${mode}, added to a call`,
              'ns',
              added[mode],
              targetNs,
              {
                ...{ mpi: mpi.version, withoutNs: median(without) },
              },
            )
        }
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

async function timeOf(
  mpi: MpiLibrary,
  processes: number,
  program: string,
  {
    library,
    mode,
    folder,
  }: { readonly library: string; readonly mode: string | null; readonly folder: string },
): Promise<number> {
  const preload =
    mode === null
      ? []
      : ['env', `LD_PRELOAD=${library}`, `RANKWEAVE_PROFILE=${mode}:${join(folder, 'profile')}`]
  const words = ['-n', String(processes), ...mpi.flags({ processes, bound: processes === 2 })]
  // On a busy machine two processes wait for a core, message by message.
  const rounds = processes === 1 ? ['2000', '500'] : ['400', '50']
  const { ns } = await runWithTimeout(mpi.mpirun, [...words, ...preload, program, ...rounds], 120, mpi.env)
  return ns
}
