import { readScheduleFile } from '../../schedule/file/schedule-file.js'
import type { Schedule } from '../../schedule/ir.js'
import { verify } from '../../schedule/verify/verify.js'
import { countMessages } from '../../schedule/walk.js'
import { buildTopology } from '../../topology/files/topology-from-spec.js'
import { openInput } from '../input/open-input.js'
import { addOptions, flag, json, option, readOptions } from '../input/options.js'
import { specHelp } from '../input/spec-help.js'
import { exitCodes } from '../output/exit-codes.js'
import { noteViolations, reductionRows } from '../output/proof-report.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { counted, table } from '../output/result-rows.js'

const help = `${specHelp}

Verifies that every send has its receive with the same blocks, that every rank ends with exactly the blocks and the
reductions it must hold, each in its place and of each contributor once, and that no rank deadlocks. Exit code 1 when
there are violations; the first ones are listed with their rank. Of reductions it also reports whether they combine in
rank order, and how they are associated: schedules of one association give the same floating-point bits.

Examples:
  rankweave plan moore:16x16:r=2 -o plan.jsonl
  rankweave verify plan.jsonl                                 with the topology in the file
  rankweave verify plan.jsonl --topology moore:16x16:r=2      with the topology you meant
  rankweave verify allreduce.jsonl --ordered                  also for operations that are not commutative
  rankweave verify plan.jsonl --json`

const optionTable = {
  topology: option('--topology <spec>', 'the topology the plan must be for'),
  ordered: flag('--ordered', 'demand reductions in rank order, as operations need that are not commutative'),
  json,
}

export const verifyCommand: AddCommand = (command, act) => {
  addOptions(
    command.argument('<file>', 'schedule file, as written by plan -o or schedule -o; - for standard input'),
    optionTable,
  )
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, file: string, raw: unknown) => {
        const options = readOptions(optionTable, raw)
        report.step(`reading ${file}`)
        const schedule = await readScheduleFile(file, { open: openInput })
        const topology =
          options.topology === undefined
            ? schedule.topology
            : buildTopology(options.topology, { open: openInput })
        const verification = verify(schedule, topology, { ordered: options.ordered })
        noteViolations(report, verification)
        const { ok, count } = verification
        // The text describes the content of the file, whatever topology it is verified with.
        const { specification, strategy } = schedule
        const { collective, ranks } = specification
        const outcome = ok ? 'verified' : counted(count, 'violation', 'violations')
        const rows = reductionRows(schedule, verification)
        report.result(
          { ...verification, file, collective, ranks, strategy },
          [`${file}: ${subjectOf(schedule)}: ${outcome}`, ...(rows.length === 0 ? [] : [table(rows)])].join(
            '\n',
          ),
        )
        return ok ? exitCodes.ok : exitCodes.checkFailed
      }),
    )
}

/** Describes a schedule in a few words. */
function subjectOf(schedule: Schedule): string {
  const { specification, strategy, topology } = schedule
  const ranks = counted(specification.ranks, 'rank', 'ranks')
  if (topology !== null) return `${strategy}, ${ranks}, ${counted(topology.outRank.length, 'edge', 'edges')}`
  const { messages } = countMessages(schedule)
  return `${specification.collective} by ${strategy}, ${ranks}, ${counted(messages, 'message', 'messages')}`
}
