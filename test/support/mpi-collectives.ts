import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { casesOfMpi, collectives, contentsInOrder, lengthsInOrder } from './collective-cases.js'
import { type Mpi, startCommand } from './mpi.js'

const source = fileURLToPath(new URL('mpi-collectives.c', import.meta.url))

/** The compiler of an MPI, or why there is none, which is printed. An error where tests require MPI. */
export function compilerOf({ name, mpirun }: Mpi): string | null {
  const mpicc = mpirun.replace('mpirun', 'mpicc')
  // The compiler may be there without the headers.
  if (spawnSync(mpicc, ['-E', source], { stdio: 'ignore' }).status === 0) return mpicc
  const reason = `programs in C are not tested on ${name}: ${mpicc} is missing, or finds no mpi.h`
  if (process.env['RANKWEAVE_REQUIRE_MPI'] === '1') throw new Error(reason)
  console.warn(reason)
  return null
}

/**
 * What every rank gets from the library's own collectives in every case, in a folder with a file per rank.
 */
export class ResultsOfMpi {
  readonly folder: string
  readonly #root: string

  private constructor() {
    this.#root = mkdtempSync(`${tmpdir()}/rankweave-collectives-`)
    this.folder = `${this.#root}/results`
  }

  /** Compiles the program and runs it on as many processes as there are ranks. */
  static async of(mpi: Mpi, mpicc: string, mostRanks: number): Promise<ResultsOfMpi> {
    const results = new ResultsOfMpi()
    const [program, cases] = [`${results.#root}/mpi-collectives`, `${results.#root}/cases`]
    try {
      mkdirSync(results.folder)
      writeFileSync(cases, caseLines(mostRanks))
      execFileSync(mpicc, ['-O1', '-Wall', '-Wextra', '-Werror', '-o', program, source])
      const job = startCommand(mpi, mostRanks, [program, cases, results.folder])
      const { code, stderr } = await job.ended
      if (code !== 0) throw new Error(`${mpi.name} ended with ${code}: ${stderr}`)
    } catch (error) {
      results.remove()
      throw error
    }
    return results
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true })
  }
}

function caseLines(mostRanks: number): string {
  const lines = casesOfMpi(mostRanks).map(({ collective, ranks, root, lengths, content }) => {
    const which = (collectives as readonly string[]).indexOf(collective)
    return [which, ranks, root, lengthsInOrder.indexOf(lengths), contentsInOrder.indexOf(content)].join(' ')
  })
  return `${lines.join('\n')}\n`
}
