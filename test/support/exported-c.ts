import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cProgram } from '../../src/export/c-program.js'
import type { Schedule } from '../../src/schedule/ir.js'
import { type Ended, type Mpi, startCommand } from './mpi.js'

/** Compiles the exported program of a schedule, warnings being errors; returns a function that runs it. */
export function compileExported(
  mpicc: string,
  mpi: Mpi,
  folder: string,
  schedule: Schedule,
): (...options: readonly string[]) => Promise<Ended> {
  const source = join(folder, 'plan.c')
  const program = join(folder, 'plan')
  writeFileSync(source, cProgram(schedule))
  const flags = ['-std=c99', '-O2', '-pedantic', '-Wall', '-Wextra', '-Werror']
  execFileSync(mpicc, [...flags, '-o', program, source])
  return (...options) => startCommand(mpi, schedule.specification.ranks, [program, ...options]).ended
}
