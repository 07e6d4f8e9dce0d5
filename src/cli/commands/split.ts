import { z } from 'zod'
import { run } from '../../comm/run.js'
import type { PhaseCosts } from '../../comm/split/meter.js'
import { type SplitOptions, splitAlgorithms } from '../../comm/split/plan.js'
import { isRankweaveError } from '../../errors.js'
import { type AddCommand, exitCodes, worldFailure } from '../command.js'
import { leaveMpi } from '../mpi-streams.js'
import { oneOf, parseOptions, whole } from '../options.js'
import main, { type SplitProblem, type SplitShare } from '../program/split-program.js'
import { counted, figure, type Reporter, seconds, table } from '../reporter.js'
import { readSplitFile } from '../split-input.js'
import { addWorldOptions, fabricOf, ownProgram, worldSchema } from '../world-options.js'

const help = `
Rank r gets color r modulo --colors and a random key, or what line r + 1 of --file says: a color (or -) and a key.
Every rank checks its new rank and its communicator's size, and the address of another member is looked up for it.

Examples:
  rankweave split -n 1000000                                       a million ranks in one process
  rankweave split -n 100000 --processes 64 --table distributed     by parallel sort, 1/64 of the table per process
  rankweave split -n 1000 --processes 16 --algorithm parallel-sort --sorters 4 --table-group 8 --explain
  rankweave split -n 64 --fabric threads --processes 2 --json`

const schema = z.object({
  ...worldSchema,
  colors: whole(1, 2 ** 31 - 1),
  file: z.string().optional(),
  algorithm: oneOf('auto', ...splitAlgorithms),
  table: oneOf('auto', 'replicated', 'distributed'),
  sorters: whole(1).optional(),
  tableGroup: whole(1).optional(),
  maxTableBytes: whole(1).optional(),
  explain: z.boolean(),
})

/** `rankweave split`: one split, what it costs, and whether it is right. */
export const splitCommand: AddCommand = (program, act) => {
  const command = program.command('split').description('Split a world of ranks, and see what it costs.')
  addWorldOptions(command)
    .option('--colors <number>', 'colors that ranks get in turn', '1')
    .option('--file <path>', 'color and key of every rank, a line each')
    .option('--algorithm <name>', `auto, ${splitAlgorithms.join(', ')}`, 'auto')
    .option('--table <kind>', 'auto, replicated or distributed', 'auto')
    .option('--sorters <number>', 'sorters p of a group')
    .option('--table-group <number>', "processes P' that share one distributed table")
    .option('--max-table-bytes <number>', 'refuse a split that would keep larger tables per process')
    .option('--explain', 'say how it was done, phase by phase', false)
    .option('--json', 'one JSON object on standard output', false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, raw: unknown) => {
        const options = parseOptions(schema, raw)
        const { ranks } = options
        const fabric = fabricOf(options)
        const problem: SplitProblem = {
          input:
            options.file === undefined
              ? { kind: 'generated', colors: options.colors }
              : readSplitFile(options.file, ranks),
          options: splitOptions(options),
        }
        const world =
          fabric.kind === 'threads'
            ? run<SplitShare | undefined, SplitProblem>(ownProgram('split-program'), {
                ranks,
                fabric,
                args: problem,
              })
            : run(main, { ranks, fabric, args: problem })
        const shares = await world
          .catch((cause: unknown) => {
            // The program is our own: what it refuses is an option.
            throw isRankweaveError(cause, 'ERR_ARGUMENT') ? cause : worldFailure(cause)
          })
          .finally(leaveMpi)
        // Process 0 has all shares, and answers.
        if (shares.length < ranks) return exitCodes.ok
        const outcome = outcomeOf(
          shares.filter((share) => share !== undefined),
          ranks,
          fabric.kind,
        )
        report.result(outcome, textOf(outcome, options.explain))
        return outcome.verified ? exitCodes.ok : exitCodes.checkFailed
      }),
    )
}

function splitOptions(options: z.infer<typeof schema>): SplitOptions {
  const { algorithm, table: kind, sorters, tableGroup, maxTableBytes } = options
  return {
    ...(algorithm === 'auto' ? {} : { algorithm }),
    ...(kind === 'auto' ? {} : { table: kind }),
    ...(sorters === undefined ? {} : { sorters }),
    ...(tableGroup === undefined ? {} : { tableGroup }),
    ...(maxTableBytes === undefined ? {} : { maxTableBytes }),
  }
}

/** What `--json` prints. Phases in seconds, of the process where each took longest; messages of all processes. */
interface Outcome {
  readonly ranks: number
  readonly communicators: number
  readonly algorithm: string | null
  readonly table: string | null
  readonly sorters: number | null
  readonly tableGroup: number | null
  readonly fabric: string
  readonly processes: number
  readonly seconds: number
  readonly phases: Readonly<Record<string, number>>
  readonly messages: number
  readonly bytesPerProcess: { readonly peak: number; readonly kept: number }
  readonly lookups: { readonly asked: number; readonly messages: number; readonly hits: number } | null
  readonly verified: boolean
}

function outcomeOf(shares: readonly SplitShare[], ranks: number, fabric: string): Outcome {
  const described = shares.map(({ largest }) => largest).filter((each) => each !== null)
  const reports = described.flatMap(({ split }) => (split === null ? [] : [split]))
  const costs = reports.map(({ phases }) => phases)
  const kinds = described.map(({ table: { kind } }) => kind)
  const lookups = described.flatMap(({ table: { lookups } }) => (lookups === null ? [] : [lookups]))
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
  return {
    ranks,
    communicators: sum(shares.map(({ leads }) => leads)),
    algorithm: reports[0]?.algorithm ?? null,
    table: kinds[0] ?? null,
    sorters: reports[0]?.sorters ?? null,
    tableGroup: reports[0]?.tableGroup ?? null,
    fabric,
    processes: shares.length,
    seconds:
      (Math.max(...shares.map(({ endedMs }) => endedMs)) -
        Math.min(...shares.map(({ beganMs }) => beganMs))) /
      1000,
    phases: slowest(costs),
    messages: sum(costs.flatMap((phases) => Object.values(phases).map(({ messages }) => messages))),
    bytesPerProcess: {
      peak: Math.max(0, ...reports.map(({ peakBytes }) => peakBytes)),
      kept: Math.max(...shares.map(({ bytesKept }) => bytesKept)),
    },
    lookups:
      lookups.length === 0
        ? null
        : {
            asked: sum(lookups.map(({ asked }) => asked)),
            messages: sum(lookups.map(({ messages }) => messages)),
            hits: sum(lookups.map(({ hits }) => hits)),
          },
    verified: shares.every(({ verified }) => verified),
  }
}

/** The phases every algorithm is asked for, then those it has besides. */
function slowest(costs: readonly PhaseCosts[]): Record<string, number> {
  const phases: Record<string, number> = { collect: 0, splitters: 0, exchange: 0, merge: 0 }
  for (const of of costs) {
    for (const [phase, cost] of Object.entries(of)) {
      phases[phase] = Math.max(phases[phase] ?? 0, cost.seconds)
    }
  }
  return phases
}

function textOf(outcome: Outcome, explain: boolean): string {
  const { bytesPerProcess, phases, lookups } = outcome
  const how = `${outcome.algorithm ?? 'none'}, ${outcome.table ?? 'no'} table`
  const rows: [string, string | null][] = [
    [
      'ranks',
      `${figure(outcome.ranks)} on ${counted(outcome.processes, 'process', 'processes')}, ${outcome.fabric}`,
    ],
    ['communicators', figure(outcome.communicators)],
    ['split', how],
    ['time', seconds(outcome.seconds)],
    ['messages', figure(outcome.messages)],
    ['peak', `${figure(bytesPerProcess.peak)} bytes per process`],
    ['kept', `${figure(bytesPerProcess.kept)} bytes per process`],
    ['verified', outcome.verified ? 'yes' : 'NO'],
  ]
  if (explain) {
    rows.push(['sorters', `${outcome.sorters}, tables over ${outcome.tableGroup} processes`])
    for (const [phase, took] of Object.entries(phases)) rows.push([`  ${phase}`, seconds(took)])
    if (lookups !== null) {
      const { asked, messages, hits } = lookups
      rows.push([
        'look-ups',
        `${figure(asked)} rows asked in ${counted(messages, 'message', 'messages')}, ${figure(hits)} found in caches`,
      ])
    }
  }
  return table(rows)
}
