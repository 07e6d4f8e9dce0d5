import type { Command } from 'commander'
import { longestBlockBytes } from '../../cost/simulate/block-lengths.js'
import { RankweaveError } from '../../errors.js'
import { cProgramPieces } from '../../export/c-program.js'
import { goalPieces } from '../../export/goal-text.js'
import { parseAuto } from '../../neighborhood/choose/auto.js'
import type { Schedule } from '../../schedule/ir.js'
import { mostSendsAtOnce, withPorts } from '../../schedule/lower/with-ports.js'
import { verify } from '../../schedule/verify/verify.js'
import { countMessages } from '../../schedule/walk.js'
import {
  addOptions,
  json,
  type OptionValues,
  oneOf,
  option,
  readOptions,
  refuseGiven,
  whole,
} from '../input/options.js'
import { mapOption, operationOption, strategyOptions } from '../input/plan-options.js'
import { serverOptions } from '../input/server-options.js'

import { machineHelp, mapHelp, specHelp } from '../input/spec-help.js'
import { exitCodes } from '../output/exit-codes.js'
import { checkOutputs, isStandardOutput, reportRowsBeside, writeOutput } from '../output/output-file.js'
import { noteViolations } from '../output/proof-report.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { counted, figure, held, row, shown } from '../output/result-rows.js'
import { mappingRow } from '../output/simulation-report.js'
import {
  refuseInapplicable,
  scheduleFromSource,
  sendsAtOnce,
  shapeOptions,
} from '../source/schedule-source.js'

const help = `
SOURCE is what to export: a schedule file, as written by plan -o or schedule -o (- for standard input); an algorithm of a
collective with its settings, for which see rankweave schedule --help; or a topology, planned as by rankweave plan, with the same options.

Formats:
  c     a C program for MPI-3 in one file: runs the schedule, checks its data, and prints its time beside that of the
        library's own collective. Compile it with mpicc; its head lists its options.
  goal  GOAL text for LogGOPSim (txt2bin), with --bytes of every contribution

The schedule is verified before it is written. A schedule with violations is not written, and the exit code is 1.

A --machine with ports limits the sends of a rank that are in progress to so many, unless --ports says how many.
${specHelp}
${machineHelp}
${mapHelp}

Examples:
  rankweave export moore:8x8:r=1 --format c -o plan.c
  mpicc -O2 -o plan plan.c && mpirun -n 64 ./plan -b 4
  rankweave export er:64:d=0.2:seed=1 --strategy routed --operation neighbor-alltoall --format c -o alltoall.c
  rankweave export plan.jsonl --format goal --bytes 4096 -o plan.goal
  rankweave export allgather-bucket:ports=6 --machine torus:dims=4x4x4,ports=6 --format c -o buckets.c
  rankweave export allreduce-ring --ranks 16 --format goal --bytes 65536 -o -`

const optionTable = {
  format: option('--format <name>', 'c or goal', oneOf('c', 'goal')),
  output: option('-o, --output <file>', 'where to write it (-: to standard output)'),
  bytes: option(
    '--bytes <number>',
    'with --format goal or --strategy auto: bytes of every contribution',
    whole(0, longestBlockBytes),
  ),
  ports: option(
    '--ports <number>',
    'sends of a rank in progress at once, at most (default: the ports of the machine, or all of a phase)',
    whole(1, mostSendsAtOnce),
  ),
  json,
  ...shapeOptions,
  ...strategyOptions(['auto']),
  ...operationOption,
  ...mapOption,
  ...serverOptions,
}

type Options = OptionValues<typeof optionTable>

export const exportCommand: AddCommand = (command, act) => {
  addOptions(command.argument('<source>', 'schedule file, algorithm or topology'), optionTable)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, source: string, raw: unknown, command: Command) => {
        const options = readOptions(optionTable, raw)
        const { format, output } = options
        const ports = sendsAtOnce(options)
        refuseInapplicable(command, source)
        if (format === undefined) throw new RankweaveError('ERR_USAGE', 'expected --format c or goal')
        if (format === 'goal' && options.bytes === undefined)
          throw new RankweaveError('ERR_USAGE', '--format goal: expected --bytes')
        if (format === 'c' && parseAuto(options.strategy) === null)
          refuseGiven(
            command,
            ['bytes'],
            'is for --format goal and --strategy auto: the C program has an option for it',
          )
        if (output === undefined) throw new RankweaveError('ERR_USAGE', 'expected -o with a file, or -o -')
        await checkOutputs(report, output)
        const { schedule: planned, mapping } = await scheduleFromSource(report, command, source, options)
        report.step('verifying the schedule')
        if (!isVerified(report, planned)) return exitCodes.checkFailed
        const schedule = ports === undefined ? planned : withPorts(planned, ports)
        if (schedule !== planned && !isVerified(report, schedule)) return exitCodes.checkFailed
        report.step('exporting')
        await writeOutput(report, output, exported(schedule, options))
        if (!isStandardOutput(output)) report.note(`wrote ${output}`)
        const { collective, ranks } = schedule.specification
        const { messages } = countMessages(schedule)
        const rows = [
          held({ source }),
          row('format', format, 'format', format === 'c' ? 'C program for MPI' : 'GOAL text'),
          held({ collective, strategy: schedule.strategy, ranks }),
          shown('mapping', mapping === null ? null : mappingRow(mapping)),
          row('messages', messages),
          held(mapping === null ? {} : { mapping }),
          ...(ports === undefined ? [] : [row('portsPerRank', ports, 'ports', `${figure(ports)} per rank`)]),
          held({ file: output }),
        ]
        const heading = `${source}: ${collective} by ${schedule.strategy}, ${counted(ranks, 'rank', 'ranks')}`
        reportRowsBeside(report, output, rows, heading)
        return exitCodes.ok
      }),
    )
}

function isVerified(report: Reporter, schedule: Schedule): boolean {
  const verification = verify(schedule)
  noteViolations(report, verification)
  return verification.ok
}

function exported(schedule: Schedule, { format, bytes }: Options): Iterable<string> {
  return format === 'c' ? cProgramPieces(schedule) : goalPieces(schedule, { bytes: bytes! })
}
