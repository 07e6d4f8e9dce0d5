import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, join, resolve } from 'node:path'
import * as z from 'zod'
import { RankweaveError } from '../../errors.js'
import { compileProfiler } from '../../profile/profile.js'
import { readScheduleFile } from '../../schedule/file/schedule-file.js'
import { verify } from '../../schedule/verify/verify.js'
import { type CompiledLibrary, compileLibrary, sourceArchive } from '../../shim/library.js'
import { launchLine } from '../../shim/mpi-command.js'
import { planWords } from '../../shim/plan-words.js'
import { openInput } from '../input/open-input.js'
import { addOptions, json, option, readOptions } from '../input/options.js'
import { type ExitCode, exitCodes } from '../output/exit-codes.js'
import { noteViolations } from '../output/proof-report.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { held, row, shown } from '../output/result-rows.js'

const help = `
The library is preloaded into unmodified MPI programs. On communicators with a topology it plans neighborhood collectives
and runs the plans where a trial in the program itself shows that they are faster; everything else is left to MPI.
Preload it into all processes of a job. Compile it with the MPI with which the program was compiled: where Open MPI and MPICH
differ, the library ends the program at its start with exit code 78 and names both. The command prints a line that launches a
program with that MPI on this machine. The profiler beside it is for rankweave record --library on several machines.

Environment of the program:
  RANKWEAVE_SHIM=report         print what was planned, run and measured
  RANKWEAVE_SHIM=record:FILE    write the graph of every communicator, for rankweave plan edges:FILE
  RANKWEAVE_SHIM=tune:FILE      run collectives in the settings of a tuning file
  RANKWEAVE_SHIM=online:DIR     choose settings call by call and record them, for rankweave learn DIR
  RANKWEAVE_SHIM=matching:DIR   record how messages are matched, for rankweave record --matching -o DIR
  RANKWEAVE_SHIM=reorder        place the ranks of topologies that are made with reorder = 1
  RANKWEAVE_SHIM=reorder:FILE   place them as rankweave map -o FILE says
  RANKWEAVE_SHIM=always         run plans without a trial
  RANKWEAVE_SHIM=off            leave everything to MPI
  RANKWEAVE_SHIM_PLAN=FILE      plans written by --plan, with colons between

Examples:
  rankweave shim -o shim --mpicc mpicc
  mpirun -n 64 -x LD_PRELOAD=$PWD/shim/librankweave_shim.so ./program           Open MPI
  mpirun -n 64 -env LD_PRELOAD $PWD/shim/librankweave_shim.so ./program         MPICH
  rankweave shim --source rankweave-shim.tar.gz                                 for make && make install, without Node
  rankweave plan edges:FILE --strategy routed -o plan.jsonl && rankweave shim -o shim --plan plan.jsonl`

const optionTable = {
  output: option('-o, --output <folder>', 'where to write it', z.string(), 'rankweave-shim'),
  mpicc: option('--mpicc <command>', 'the compiler of the MPI of the program', z.string().min(1), 'mpicc'),
  plan: option(
    '--plan <file>',
    'also write this plan of a neighbor allgather, as written by plan -o, for the library',
  ),
  source: option(
    '--source <file>',
    'only write the C sources with a Makefile, as a .tar.gz to be built without Node',
    z.string().min(1),
  ),
  json,
}

export const shimCommand: AddCommand = (command, act) => {
  addOptions(command, optionTable)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, raw: unknown) => {
        const { mpicc, output, plan, source } = readOptions(optionTable, raw)
        if (source !== undefined) return finishSource(report, resolve(source))
        const folder = resolve(output)
        const words = plan === undefined ? null : await wordsOf(report, plan)
        if (words === 'violated') return exitCodes.checkFailed
        report.step(`compiling with ${mpicc}`)
        const compiled = compileLibrary(folder, mpicc)
        const profiler = compileProfiler(folder, mpicc)
        const planFile = words === null ? null : join(folder, 'plan.rwplan')
        if (words !== null && planFile !== null) writeBytes(planFile, words)
        return finish(report, mpicc, { ...compiled, profiler, plan: planFile })
      }),
    )
}

/** Returns the plan of a file as words, after verification. */
async function wordsOf(report: Reporter, file: string): Promise<Int32Array | 'violated'> {
  report.step(`reading ${file}`)
  const schedule = await readScheduleFile(file, { open: openInput })
  const verification = verify(schedule)
  noteViolations(report, verification)
  return verification.ok ? planWords(schedule) : 'violated'
}

function writeBytes(file: string, bytes: Uint8Array | Int32Array): void {
  try {
    writeFileSync(file, bytes)
  } catch (cause) {
    throw new RankweaveError('ERR_SHIM', `cannot write ${file}: ${(cause as Error).message}`, { cause })
  }
}

function finishSource(report: Reporter, file: string): ExitCode {
  const folder = basename(file).replace(/\.(tar\.gz|tgz)$/, '')
  if (folder === basename(file))
    throw new RankweaveError(
      'ERR_SHIM',
      `--source: expected a name that ends in .tar.gz or .tgz, got ${file}`,
    )
  writeBytes(file, sourceArchive(folder))
  report.rows([row('source', file), shown('build', `make && make install PREFIX=FOLDER, in ${folder}`)])
  return exitCodes.ok
}

interface Written extends CompiledLibrary {
  readonly profiler: string
  readonly plan: string | null
}

const processes = 64

function finish(
  report: Reporter,
  mpicc: string,
  { library, mpi, plan, profiler, sources }: Written,
): ExitCode {
  const variables = {
    LD_PRELOAD: library,
    ...(plan === null ? {} : { RANKWEAVE_SHIM_PLAN: plan }),
    RANKWEAVE_SHIM: 'report',
  }
  const site = { cores: availableParallelism(), isRoot: process.getuid?.() === 0 }
  const launch = mpi === null ? null : launchLine(mpi, mpicc, processes, variables, site)
  const settings = Object.entries(variables).map((set) => set.join('='))
  report.rows([
    row('library', library),
    row('profiler', profiler),
    row('sources', sources),
    row('plan', plan, 'plan', plan),
    held({ mpi }),
    row('launch', launch, mpi ?? 'launch', launch ?? `set for every process: ${settings.join(' ')}`),
  ])
  return exitCodes.ok
}
