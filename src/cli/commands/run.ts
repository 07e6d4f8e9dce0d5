import { availableParallelism } from 'node:os'
import type { Command } from 'commander'
import type { FabricFactory } from '../../fabric/fabric.js'
import { prepareTraceDirectory } from '../../launch/processes/matching-trace-files.js'
import { mostProcessOperations } from '../../messages/process/matching-traces.js'
import {
  addOptions,
  flag,
  json,
  negation,
  option,
  readOptions,
  refuseGiven,
  whole,
} from '../input/options.js'
import { machineHelp } from '../input/spec-help.js'
import {
  fabricOf,
  matchingDesignOption,
  onlineTuningOption,
  reportOf,
  tuningOfRun,
  worldMachineOf,
  worldMachineOption,
  worldOptions,
} from '../input/world-options.js'
import { plainValue, resultLines } from '../output/rank-results.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { counted, secondsText } from '../output/result-rows.js'
import { runUserProgram } from '../program/run-program.js'

const help = `
PROGRAM is a .ts, .mts, .js, .mjs or .cjs file whose default export is called once per rank:

  import type { Communicator } from 'rankweave'

  export default async function main(world: Communicator, args: readonly string[]) {
    const sum = await world.allreduce(Float64Array.of(world.rank), 'sum')
    if (world.rank === 0) console.log(\`the ranks add up to \${sum[0]}\`)
  }

A program that exports hosted(worlds, args) beside it is called once per process, with the handles of all its ranks, and
returns an array of their values; --no-hosted calls the default export instead.

The return value of a rank is its result. When a rank throws, the world ends and the exit code is 3.

Examples:
  rankweave run program.ts -n 2 --fabric threads --processes 2   2 ranks on 2 threads, each with a core
  rankweave run program.ts -n 8                     8 ranks on one thread, so on one core
  rankweave run program.ts -n 8 --processes 4       4 logical processes of one thread, for tests; not faster
  rankweave run program.ts -n 8 --fabric websocket --processes 4   on 4 processes of this host
  rankweave run program.ts -n 8 --tag-output        every line begins with the rank that wrote it
  rankweave run program.ts -n 8 -- input.txt fast   arguments after -- are passed to the program
  rankweave run program.ts -n 8 --no-hosted         the default export, also where the program exports hosted
  rankweave run program.ts -n 8 --tuning tuning.json  collectives by the algorithms that rankweave tune has found
  rankweave run program.ts -n 8 --machine cluster:nodes=2,cores=4   reorderings and auto plan for two nodes
  rankweave run program.ts -n 8 --diagnose          errors name the lines of the calls that wait
  rankweave run program.ts -n 8 --trace-matching trace   records message matching, for rankweave match trace
  rankweave run program.ts -n 8 --json              results as one JSON object; the program's output on stderr`

const optionTable = {
  ...worldOptions,
  ...onlineTuningOption,
  ...worldMachineOption,
  ...matchingDesignOption,
  tagOutput: flag('--tag-output', 'begin every line with the rank that wrote it'),
  hosted: negation(
    '--no-hosted',
    'call the default export once per rank, also where the program exports hosted',
  ),
  diagnose: flag('--diagnose', 'name the line of the program in errors and reports'),
  reportAlgorithms: flag(
    '--report-algorithms',
    'print the algorithms of collectives that ran on standard error',
  ),
  reportMatching: flag(
    '--report-matching',
    'count message matching, print lengths of its queues on standard error',
  ),
  traceMatching: option(
    '--trace-matching <dir>',
    'record message matching: a file a rank, for rankweave match',
  ),
  traceCollectives: flag('--trace-collectives', 'of --trace-matching: the messages of collectives, too'),
  traceOperations: option(
    '--trace-operations <number>',
    'operations a rank records, its first (default: 1000000)',
    whole(1, mostProcessOperations),
  ),
  json,
}

export const runCommand: AddCommand = (command, act) => {
  addOptions(
    command
      .argument('<program>', 'file with the program')
      .argument('[args...]', 'arguments for the program, after --'),
    optionTable,
  )
    .addHelpText('after', `${help}\n${machineHelp}`)
    .action(
      act(async (report: Reporter, file: string, args: readonly string[], raw: unknown, command: Command) => {
        const options = readOptions(optionTable, raw)
        if (options.traceMatching === undefined)
          refuseGiven(command, ['traceCollectives', 'traceOperations'], 'is for --trace-matching')
        if (options.traceMatching !== undefined) prepareTraceDirectory(options.traceMatching)
        const { ranks } = options
        const fabric = fabricOf(options)
        const { processes } = fabric
        const tuning = await tuningOfRun(options, fabric.kind, fabric.isJob)
        const machine = await worldMachineOf(options)
        const started = performance.now()
        const usedBefore = process.cpuUsage()
        const results = await runUserProgram({
          file,
          ranks,
          fabric,
          args,
          tagOutput: options.tagOutput,
          diagnose: options.diagnose,
          reportAlgorithms: options.reportAlgorithms,
          reportMatching: options.reportMatching,
          traceMatching: options.traceMatching,
          traceCollectives: options.traceCollectives,
          traceOperations: options.traceOperations,
          matchingDesign: options.matchingDesign,
          hosted: options.hosted,
          tuning,
          machine,
          report: reportOf(options),
        })
        const took = (performance.now() - started) / 1000
        report.note(`${counted(ranks, 'rank', 'ranks')} on ${hostsText(fabric, ranks)}: ${secondsText(took)}`)
        const { user, system } = process.cpuUsage(usedBefore)
        if (computedLong(took, (user + system) / 1e6)) {
          const note = idleCoresNote(fabric, ranks, availableParallelism())
          if (note !== undefined) report.note(note)
        }
        if (report.json) {
          const anyReturned = results.some((result) => result !== undefined)
          const extra = anyReturned ? { results: results.map((result) => plainValue(result)) } : {}
          report.result({ ranks, processes, fabric: fabric.kind, seconds: took, ...extra }, '')
        } else {
          const lines = resultLines(results)
          if (lines.length > 0) report.result(null, lines.join('\n'))
        }
      }),
    )
}

/**
 * Tells whether a world computed for more than a second, so that more cores would have made it faster. On a busy machine
 * it gets a small share of a core.
 */
function computedLong(tookSeconds: number, usedSeconds: number): boolean {
  return usedSeconds > 1 && usedSeconds > 0.05 * tookSeconds
}

/** Returns how ranks that shared cores, while others were idle, get more of them. */
export function idleCoresNote(
  { kind, processes }: Pick<FabricFactory, 'kind' | 'processes'>,
  ranks: number,
  cores: number,
): string | undefined {
  const most = Math.min(ranks, cores)
  if (kind === 'local' && most > 1)
    return `all ranks shared one core; --fabric threads --processes ${most} runs them on ${most} cores`
  if (kind !== 'threads' || processes >= most) return undefined
  const shared = `${ranks} ranks shared ${counted(processes, 'thread', 'threads')}`
  return `${shared}; --processes ${most} runs them on ${most} cores`
}

/** Names what hosts the ranks, so that logical processes, which share one core, are not taken for threads. */
function hostsText({ kind, processes }: Pick<FabricFactory, 'kind' | 'processes'>, ranks: number): string {
  const idle = processes > ranks ? `, ${processes - ranks} of them without ranks` : ''
  if (kind === 'threads') return `${counted(processes, 'thread', 'threads')}${idle}`
  if (kind === 'local' && processes > 1)
    return `${counted(processes, 'process', 'logical processes')} of one thread${idle}`
  return `${counted(processes, 'process', 'processes')}${idle}`
}
