import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cProgram } from '../../src/export/c-program.js'
import type { Schedule } from '../../src/schedule/ir.js'
import { type Ended, type Mpi, runProgram } from './mpi.js'

/**
 * Compiles the exported program of a schedule, warnings being errors; returns a function that runs it.
 * @param beside another C source that is linked with it
 * @param env of the launcher
 */
export function compileExported(
  mpicc: string,
  mpi: Mpi,
  folder: string,
  schedule: Schedule,
  beside?: string,
  env: Readonly<Record<string, string>> = {},
): (...options: readonly string[]) => Promise<Ended> {
  const source = join(folder, 'plan.c')
  const program = join(folder, 'plan')
  writeFileSync(source, cProgram(schedule))
  const flags = ['-std=c99', '-O2', '-pedantic', '-Wall', '-Wextra', '-Werror']
  const sources = [source]
  if (beside !== undefined) {
    sources.push(join(folder, 'beside.c'))
    writeFileSync(sources[1]!, beside)
  }
  execFileSync(mpicc, [...flags, '-o', program, ...sources])
  return (...options) => runProgram(mpi, schedule.specification.ranks, [program, ...options], env)
}
