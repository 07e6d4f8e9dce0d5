import * as z from 'zod'
import { RankweaveError } from '../../errors.js'
import { buildTopology } from '../../topology/files/topology-from-spec.js'
import { dimsCreate } from '../../topology/generate/cartesian.js'
import { installNeighborhood } from '../../topology-communicator/install.js'
import { openInputOn } from '../input/open-input.js'
import { parseOptions, whole } from '../input/options.js'
import { specHelp } from '../input/spec-help.js'
import { addTuningOption, tuningOf, tuningSchema } from '../input/tuning-option.js'
import { addWorldOptions, fabricOf, reportOf, worldSchema } from '../input/world-options.js'
import { benchOutcome, benchText } from '../output/bench-report.js'
import { type Reporter, readProgress } from '../output/reporter.js'
import main from '../program/bench-program.js'
import { runOwnProgram } from '../program/run-own-program.js'
import type { AddCommand } from './command.js'

const help = `${specHelp}

ping-pong            a message from rank 0 to the last rank and back: half a round trip, and bandwidth one way
allreduce            the sum of 8 bytes of every rank, on all ranks
neighbor allgather   8 bytes from every neighbor of the topology, planned by direct and by common-neighbor (k=2)

Results are checked, then every operation warms up, then it is timed by the clock of rank 0 over runs of about 0.1 s.
Median, min and max are over the runs.

Examples:
  rankweave bench -n 2 --fabric threads --processes 2
  rankweave bench -n 64 --fabric threads --processes 2 --topology moore:8x8:r=2
  mpirun -n 4 rankweave bench -n 4 --fabric mpi --runs 9 --json`

const schema = z.object({
  ...worldSchema,
  ...tuningSchema,
  runs: whole(1, 999),
  topology: z.string().optional(),
})

/** The approximate time of one run of one operation. */
const runMs = 100

export const benchCommand: AddCommand = (command, act) => {
  addTuningOption(addWorldOptions(command))
    .option('--runs <number>', 'runs of every operation', '5')
    .option(
      '--topology <spec>',
      'the topology of the neighbor allgathers (default: a Moore grid of all ranks, radius 2)',
    )
    .option('--json', 'one JSON object on standard output', false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, raw: unknown) => {
        const options = parseOptions(schema, raw)
        const { ranks, runs } = options
        const spec = options.topology ?? `moore:${dimsCreate(ranks, 2).join('x')}:r=2`
        const fabric = fabricOf(options)
        const open = openInputOn(fabric)
        const topology = buildTopology(spec, { open, onProgress: readProgress(report, spec) })
        if (topology.ranks !== ranks) {
          const message = `--topology: expected a topology of ${ranks} ranks, got one of ${topology.ranks}`
          throw new RankweaveError('ERR_USAGE', message)
        }
        const tuning = await tuningOf(options, fabric.kind)
        installNeighborhood()
        report.step(`measuring ${runs} runs of every operation`)
        const args = { runs, runMs, topology }
        const world = { ranks, fabric, args, tuning, report: reportOf(options) }
        const results = await runOwnProgram('bench-program', main, world)
        const figures = results?.[0]
        if (figures === undefined || figures === null) return
        const { processes, kind } = fabric
        const outcome = benchOutcome(figures, { ranks, processes, fabric: kind, topology: spec, runs })
        report.result(outcome, benchText(outcome))
      }),
    )
}
