import { givenOptions } from '../../base/option-table.js'
import { largestOf, smallestOf } from '../../base/search.js'
import type { PhaseCost } from '../../comm/split/split-call.js'
import { checkSplitOptions, planSplit, splitOptions } from '../../comm/split/split-plan.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import type { FabricFactory } from '../../fabric/fabric.js'
import { type ByteSource, readText } from '../../text/byte-source.js'
import { withSource } from '../../text/source-file.js'
import { openInputOn } from '../input/open-input.js'
import {
  addOptions,
  commandOptionsOf,
  flag,
  json,
  type OptionValues,
  option,
  readOptions,
  whole,
} from '../input/options.js'
import { fabricOf, reportOf, worldOptions } from '../input/world-options.js'
import { exitCodes } from '../output/exit-codes.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { counted, figure, secondsText, table } from '../output/result-rows.js'
import { runOwnProgram } from '../program/run-program.js'
import main, {
  hosted,
  type SplitInput,
  type SplitProblem,
  type SplitShare,
  splitProblem,
} from '../program/split-program.js'

const help = `
Rank r gets color r modulo --colors and a random key, or the color (or -) and key in line r + 1 of --file.
Every rank's new rank and its communicator's size are checked, and the address of another member is looked up. The
expected values come from a sort that shares no code with the split.

Examples:
  rankweave split -n 1000000                                       a million ranks in one process
  rankweave split -n 100000 --processes 64 --table distributed     by parallel sort, 1/64 of the table per process
  rankweave split -n 1000 --processes 16 --algorithm parallel-sort --sorters 4 --table-group 8 --explain
  rankweave split -n 64 --fabric threads --processes 2 --json`

const splitFlags = commandOptionsOf(splitOptions)

const optionTable = {
  ...worldOptions,
  colors: option(
    '--colors <number>',
    'number of colors, dealt to the ranks in turn (default: 1)',
    whole(1, 2 ** 31 - 1),
  ),
  file: option('--file <path>', 'file with one line per rank: color and key; - is standard input'),
  ...splitFlags,
  explain: flag('--explain', 'report time, messages and bytes of every phase'),
  json,
}

export const splitCommand: AddCommand = (command, act) => {
  addOptions(command, optionTable)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, raw: unknown) => {
        const options = readOptions(optionTable, raw)
        const { ranks } = options
        const fabric = fabricOf(options)
        const given = givenOptions(readOptions(splitFlags, raw))
        const problem = splitProblem(inputOf(options, fabric), given)
        // The options are checked before the world starts. Processes without ranks take no part in the split.
        const taking = Math.min(fabric.processes, ranks)
        checkSplitOptions(problem.options, taking)
        planSplit(ranks, taking, problem.options)
        report.step(`splitting ${figure(ranks)} ranks`)
        const world = { ranks, fabric, args: problem, hosted, report: reportOf(options) }
        const shares = await runOwnProgram<SplitShare | undefined, SplitProblem>('split-program', main, world)
        if (shares === null) return exitCodes.ok
        const took = shares.filter((share) => share !== undefined)
        const outcome = splitOutcome(took, { ranks, fabric: fabric.kind, explain: options.explain })
        report.result(outcome, splitText(outcome))
        return outcome.verified ? exitCodes.ok : exitCodes.checkFailed
      }),
    )
}

function inputOf(
  { file, colors, ranks }: OptionValues<typeof optionTable>,
  fabric: FabricFactory,
): SplitInput {
  if (file === undefined) return { kind: 'generated', colors: colors ?? 1 }
  if (colors === undefined) return readSplitFile(file, ranks, fabric)
  const message = '--colors: the colors are in the file: expected --file or --colors, got both'
  throw new RankweaveError('ERR_USAGE', message)
}

/** The average bytes of a line. */
const lineBytes = 64

/**
 * Reads one line per rank: color and key, or `-` for no color; without a key it is 0. The file may be a pipe or
 * compressed, and `-` is standard input.
 *
 * @param fabric of the world that splits
 * @throws ERR_FILE for a file that cannot be read, beyond 64 bytes per rank, for another number of lines, or for a line
 *   of another form; ERR_USAGE for `-` if every process reads
 */
function readSplitFile(path: string, ranks: number, fabric: FabricFactory): SplitInput {
  const read = (source: ByteSource) => readText(source, path, lineBytes * ranks)
  const text = withSource(path, read, { open: openInputOn(fabric) })
  const lines = text.trimEnd().split('\n')
  if (lines.length !== ranks)
    throw wrongValue('ERR_FILE', `${path}: expected ${ranks} lines, one per rank`, lines.length)
  const color = new Int32Array(ranks)
  const key = new Int32Array(ranks)
  lines.forEach((line, rank) => {
    const words = line.trim().split(/\s+/)
    const [first, second = '0'] = words
    color[rank] = first === '-' ? -1 : number(path, rank, first, 0)
    key[rank] = number(path, rank, second, -(2 ** 31))
    if (words.length > 2) throw misread(path, rank, line)
  })
  return { kind: 'listed', color, key }
}

function number(path: string, rank: number, word: string, least: number): number {
  const value = /^[-+]?\d+$/.test(word) ? Number(word) : Number.NaN
  if (value >= least && value < 2 ** 31) return value
  throw misread(path, rank, word)
}

function misread(path: string, rank: number, got: string): RankweaveError {
  const expected = `${path}: line ${rank + 1}: expected a color from 0 to 2147483647 or -, then a signed 32-bit key`
  return wrongValue('ERR_FILE', expected, got, { line: rank + 1 })
}

/** The JSON object of `rankweave split --json`. */
export interface SplitSummary {
  readonly ranks: number
  readonly communicators: number
  readonly algorithm: string
  /** The kind of the largest communicator's rank table; null if no rank has a color. */
  readonly table: string | null
  readonly sorters: number
  readonly tableGroup: number
  readonly fabric: string
  readonly processes: number
  readonly seconds: number
  /** The seconds of each phase, of the process where it took longest; 0 for phases that this split did not have. */
  readonly phases: Readonly<Record<string, number>>
  /** The number of messages between processes, in total. */
  readonly messages: number
  /** The bytes of the process with the most. */
  readonly bytesPerProcess: { readonly peak: number; readonly kept: number }
  /** The lookups of the checks: rows requested from other processes, messages for them, and cache hits. */
  readonly lookups: { readonly asked: number; readonly messages: number; readonly hits: number } | null
  readonly verified: boolean
  /**
   * The costs per phase with `--explain`: the seconds of the slowest process, and messages and payload bytes in total.
   */
  readonly explained?: Readonly<Record<string, PhaseCost>>
}

function splitOutcome(
  shares: readonly SplitShare[],
  world: { readonly ranks: number; readonly fabric: string; readonly explain: boolean },
): SplitSummary {
  const reports = shares.map(({ split }) => split)
  const described = shares.map(({ largest }) => largest).filter((each) => each !== null)
  const size = largestOf(described.map((each) => each.size))
  const lookups = shares.map((share) => share.lookups).filter((each) => each !== null)
  const { algorithm, sorters, tableGroup } = reports[0]
  const costs = costsByPhase(reports.map(({ phases }) => phases))
  const took = Object.entries(costs).map(([phase, cost]) => [phase, cost.seconds] as const)
  const began = smallestOf(shares.map(({ beganMs }) => beganMs))
  const ended = largestOf(shares.map(({ endedMs }) => endedMs))
  return {
    ranks: world.ranks,
    communicators: sum(shares.map(({ leads }) => leads)),
    algorithm,
    table: described.find((each) => each.size === size)?.table.kind ?? null,
    sorters,
    tableGroup,
    fabric: world.fabric,
    processes: shares.length,
    seconds: (ended - began) / 1000,
    phases: Object.fromEntries(took),
    messages: sum(Object.values(costs).map(({ messages }) => messages)),
    bytesPerProcess: {
      peak: largestOf(reports.map(({ peakBytes }) => peakBytes)),
      kept: largestOf(shares.map(({ retainedBytes }) => retainedBytes)),
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
    ...(world.explain ? { explained: costs } : {}),
  }
}

const nothing: PhaseCost = { seconds: 0, messages: 0, bytes: 0 }

/** Returns the costs of the four phases of every algorithm, then of its other phases. */
function costsByPhase(all: readonly Readonly<Record<string, PhaseCost>>[]): Record<string, PhaseCost> {
  const costs: Record<string, PhaseCost> = {
    collect: nothing,
    splitters: nothing,
    exchange: nothing,
    merge: nothing,
  }
  for (const phases of all) {
    for (const [phase, { seconds, messages, bytes }] of Object.entries(phases)) {
      const before = costs[phase] ?? nothing
      costs[phase] = {
        seconds: Math.max(before.seconds, seconds),
        messages: before.messages + messages,
        bytes: before.bytes + bytes,
      }
    }
  }
  return costs
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0)
}

function splitText(outcome: SplitSummary): string {
  const { bytesPerProcess, lookups, explained } = outcome
  const rows: [string, string][] = [
    [
      'ranks',
      `${figure(outcome.ranks)} on ${counted(outcome.processes, 'process', 'processes')}, ${outcome.fabric} fabric`,
    ],
    ['communicators', figure(outcome.communicators)],
    ['algorithm', `${outcome.algorithm}, ${outcome.table ?? 'no'} table`],
    ['time', secondsText(outcome.seconds)],
    ['messages', figure(outcome.messages)],
    ['peak memory', `${figure(bytesPerProcess.peak)} bytes per process`],
    ['retained memory', `${figure(bytesPerProcess.kept)} bytes per process`],
    ['verified', outcome.verified ? 'yes' : 'NO'],
  ]
  if (explained !== undefined) {
    // These algorithms have no sorters: every process gets the whole table.
    if (outcome.algorithm !== 'conventional' && outcome.algorithm !== 'merging') {
      rows.push([
        'sorters',
        `${outcome.sorters}, one rank table per ${counted(outcome.tableGroup, 'process', 'processes')}`,
      ])
    }
    for (const [phase, cost] of Object.entries(explained)) {
      const said = `${secondsText(cost.seconds)}, ${counted(cost.messages, 'message', 'messages')}, ${figure(cost.bytes)} bytes`
      rows.push([`  ${phase}`, said])
    }
    if (lookups !== null) {
      const { asked, messages, hits } = lookups
      rows.push([
        'lookups',
        `${figure(asked)} rows requested in ${counted(messages, 'message', 'messages')}, ${counted(hits, 'cache hit', 'cache hits')}`,
      ])
    }
  }
  return table(rows)
}
