import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { RankweaveError } from '../../errors.js'
import { readScheduleFile } from '../../schedule/file/schedule-file.js'
import { verify } from '../../schedule/verify/verify.js'
import { compileLibrary } from '../../shim/library.js'
import { planWords } from '../../shim/plan-words.js'
import { openInput } from '../input/open-input.js'
import { parseOptions } from '../input/options.js'
import { type ExitCode, exitCodes } from '../output/exit-codes.js'
import { noteViolations } from '../output/proof-report.js'
import { type Reporter, table } from '../output/reporter.js'
import type { AddCommand } from './command.js'

const help = `
The library is preloaded into MPI programs as they are. On communicators with a topology it plans neighborhood collectives
and runs the plans where a trial in the program itself shows that they are faster; everything else is left to MPI.
Preload it into all processes of a job. Compile it with the MPI with which the program was compiled.

Environment of the program:
  RANKWEAVE_SHIM=report         print what was planned, run and measured
  RANKWEAVE_SHIM=record:FILE    write the graph of every communicator, for rankweave plan edges:FILE
  RANKWEAVE_SHIM=always         run plans without a trial
  RANKWEAVE_SHIM=off            leave everything to MPI
  RANKWEAVE_SHIM_PLAN=FILE      plans written by --plan, with colons between

Examples:
  rankweave shim -o shim --mpicc mpicc
  mpirun -n 64 -x LD_PRELOAD=$PWD/shim/librankweave_shim.so ./program           Open MPI
  mpirun -n 64 -env LD_PRELOAD $PWD/shim/librankweave_shim.so ./program         MPICH
  rankweave plan edges:FILE --strategy routed -o plan.jsonl && rankweave shim -o shim --plan plan.jsonl`

const schema = z.object({ output: z.string(), mpicc: z.string().min(1), plan: z.string().optional() })

/** `rankweave shim`: the library that brings plans into MPI programs as they are. */
export const shimCommand: AddCommand = (program, act) => {
  program
    .command('shim')
    .description('Write and compile a library to be preloaded into MPI programs, which runs plans in them.')
    .option('-o, --output <folder>', 'where to write it', 'rankweave-shim')
    .option('--mpicc <command>', 'the compiler of the MPI of the program', 'mpicc')
    .option(
      '--plan <file>',
      'also write this plan of a neighbor allgather, as written by plan -o, for the library',
    )
    .option('--json', 'one JSON object on standard output', false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, raw: unknown) => {
        const { mpicc, output, plan } = parseOptions(schema, raw)
        const folder = resolve(output)
        const words = plan === undefined ? null : await wordsOf(report, plan)
        if (words === 'violated') return exitCodes.checkFailed
        report.step(`compiling with ${mpicc}`)
        const { library, sources } = compileLibrary(folder, mpicc)
        const planFile = words === null ? null : join(folder, 'plan.rwplan')
        if (words !== null && planFile !== null) writePlan(planFile, words)
        return finish(report, { library, sources, plan: planFile })
      }),
    )
}

/** The plan of a file, which is verified first. */
async function wordsOf(report: Reporter, file: string): Promise<Int32Array | 'violated'> {
  report.step(`reading ${file}`)
  const schedule = await readScheduleFile(file, { open: openInput })
  const verification = verify(schedule)
  noteViolations(report, verification)
  return verification.ok ? planWords(schedule) : 'violated'
}

function writePlan(file: string, words: Int32Array): void {
  try {
    writeFileSync(file, words)
  } catch (cause) {
    throw new RankweaveError('ERR_SHIM', `cannot write ${file}: ${(cause as Error).message}`, { cause })
  }
}

interface Written {
  readonly library: string
  readonly sources: string
  readonly plan: string | null
}

function finish(report: Reporter, written: Written): ExitCode {
  const { library, plan, sources } = written
  const exported = plan === null ? '' : ` -x RANKWEAVE_SHIM_PLAN=${plan}`
  const set = plan === null ? '' : ` -env RANKWEAVE_SHIM_PLAN ${plan}`
  const rows: [string, string][] = [
    ['library', library],
    ['sources', sources],
    ...(plan === null ? [] : [['plan', plan] as [string, string]]),
    ['Open MPI', `mpirun -x LD_PRELOAD=${library}${exported} -x RANKWEAVE_SHIM=report -n 64 ./program`],
    ['MPICH', `mpirun -env LD_PRELOAD ${library}${set} -env RANKWEAVE_SHIM report -n 64 ./program`],
  ]
  report.result(written, table(rows))
  return exitCodes.ok
}
