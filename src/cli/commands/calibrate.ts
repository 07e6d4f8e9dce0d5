import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import type { Command } from 'commander'
import * as z from 'zod'
import { calibratedRanksPerProcess, calibratedSizes } from '../../calibrate/calibrate.js'
import { calibratedProfile } from '../../calibrate/calibrated-profile.js'
import { fittedProfile } from '../../calibrate/fitted-profile.js'
import { RankweaveError } from '../../errors.js'
import { formatProfile } from '../../machine/profile-file.js'
import { manifestFile } from '../../package-paths.js'
import { installNeighborhood } from '../../topology-communicator/install.js'
import { readMeasurementFiles } from '../input/measurement-files.js'
import { oneOf, parseOptions, refuseGiven, whole, wholeList } from '../input/options.js'
import { readProfile } from '../input/profile-input.js'
import {
  addMeasuredWorldOptions,
  measuredFabricOf,
  measuredWorldOptions,
  measuredWorldSchema,
  reportOf,
} from '../input/world-options.js'
import { calibrationText, fitText } from '../output/calibration-report.js'
import { checkOutputs, isStandardOutput, reportBeside, writeOutput } from '../output/output-file.js'
import type { Reporter } from '../output/reporter.js'
import main from '../program/calibrate-program.js'
import { runOwnProgram } from '../program/run-own-program.js'
import type { AddCommand } from './command.js'

const help = `
Measures between process 0 and the next process on its node, and between process 0 and a process of another node if there
is one: overheads, latency, gap and time per byte of frames. Measures in process 0: copies and combinations.
What is measured, and how: docs/cost-models.md of the package.
With --fit nothing is measured: L and g of PLogP follow from times in a file of measurements, those of broadcasts along a
chain (bcast-chain, without segments) and of flat barriers (barrier-linear) on several numbers of processes, one per node or all
on one node; overheads are those of --profile.

Examples:
  rankweave calibrate --fabric threads -o threads.json
  mpirun -n 2 rankweave calibrate --fabric mpi --name cluster -o cluster.json
  rankweave calibrate --fit data.jsonl --profile cluster.json -o fitted.json`

const schema = z.object({
  ...measuredWorldSchema,
  runs: whole(3, 999),
  sizes: wholeList(65, 2 ** 24, 64),
  fit: z.string().optional(),
  profile: z.string().optional(),
  fanIn: oneOf('together', 'in-turn'),
  name: z.string().optional(),
  output: z.string().optional(),
})

const sampling = { sampleMs: 2, samplesPerRun: 7 }
/** The limit of worlds that do not state another. */
const eagerLimitBytes = 65_536

export const calibrateCommand: AddCommand = (command, act) => {
  addMeasuredWorldOptions(command)
    .option('--runs <number>', 'runs of every measurement', '11')
    .option('--sizes <list>', 'lengths that PLogP is measured at besides 8 bytes', calibratedSizes.join())
    .option('--fit <file>', "fit PLogP to a file of measurements ('rankweave measure') instead")
    .option('--profile <name>', 'with --fit: a built-in profile or a file, which has the overheads')
    .option(
      '--fan-in <name>',
      'with --fit: messages of a barrier to one rank arrive together or in-turn',
      'together',
    )
    .option('--name <name>', 'of the profile (default: calibrated-FABRIC; with --fit that of --profile)')
    .option('-o, --output <file>', 'write the profile (-: to standard output)')
    .option('--json', 'one JSON object on standard output', false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, raw: unknown, command: Command) => {
        const options = parseOptions(schema, raw)
        requireName(options.name)
        if (options.fit !== undefined) return await fitFile(report, command, options, options.fit)
        refuseGiven(command, ['profile', 'fanIn'], 'is for --fit')
        const { output, runs, sizes, name = `calibrated-${options.fabric}` } = options
        const fabric = measuredFabricOf(options)
        await checkOutputs(report, output)
        installNeighborhood()
        report.step(`measuring ${runs} runs on ${fabric.kind}`)
        const ranks = calibratedRanksPerProcess * fabric.processes
        const sizesBytes = sizes.toSorted((a, b) => a - b)
        const args = { runs, sizesBytes, ...sampling }
        const world = { ranks, fabric, args, report: reportOf(options) }
        const results = await runOwnProgram('calibrate-program', main, world)
        const calibration = results?.[0]
        if (calibration === undefined || calibration === null) return
        const source = sourceText(fabric.kind, fabric.processes)
        const profile = calibratedProfile(calibration, { name, source, eagerLimitBytes })
        if (output !== undefined) {
          await writeOutput(report, output, [formatProfile(profile)])
          if (!isStandardOutput(output)) report.note(`wrote ${output}`)
        }
        const object = { profile, measured: calibration, file: output ?? null }
        reportBeside(report, output, object, `${name}: ${source}\n${calibrationText(calibration)}`)
      }),
    )
}

/** @throws ERR_USAGE for a name that a machine line could not hold */
function requireName(name: string | undefined): void {
  if (name === undefined || /^[a-z0-9]+(-[a-z0-9]+)*$/i.test(name)) return
  throw new RankweaveError('ERR_USAGE', `--name: expected letters, digits and hyphens, got '${name}'`)
}

async function fitFile(
  report: Reporter,
  command: Command,
  { output, profile, name, fanIn }: z.infer<typeof schema>,
  file: string,
): Promise<void> {
  refuseGiven(command, measuringOptions, 'is not for --fit, which measures nothing')
  if (profile === undefined)
    throw new RankweaveError('ERR_USAGE', '--fit: expected --profile with the overheads')
  await checkOutputs(report, output)
  const fitted = fittedProfile(readProfile(profile), readMeasurementFiles([file]), { name, fanIn })
  if (output !== undefined) {
    await writeOutput(report, output, [formatProfile(fitted.profile)])
    if (!isStandardOutput(output)) report.note(`wrote ${output}`)
  }
  reportBeside(report, output, { ...fitted, file: output ?? null }, fitText(fitted))
}

const measuringOptions = [...measuredWorldOptions, 'runs', 'sizes']

/** Returns the machine, the library and the date, as a profile's source. */
function sourceText(fabric: string, processes: number): string {
  const cores = cpus()
  const { version } = JSON.parse(readFileSync(manifestFile, 'utf8')) as { version: string }
  const machine = `${cores.length} x ${cores[0]?.model.trim() ?? 'unknown processor'}`
  const date = new Date().toISOString().slice(0, 10)
  return `rankweave ${version} calibrate, ${date}: ${fabric}, ${processes} processes; ${machine}; Node ${process.version}`
}
