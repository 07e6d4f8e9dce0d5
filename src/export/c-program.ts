import { readFileSync } from 'node:fs'
import { concatenateWords } from '../base/packing.js'
import { rangeAt } from '../base/search.js'
import { unitCut } from '../cost/simulate/block-lengths.js'
import { RankweaveError } from '../errors.js'
import { ownFile } from '../package-paths.js'
import { isNeighborSchedule, type Schedule } from '../schedule/ir.js'
import { lower } from '../schedule/lower/lower.js'
import type { ProcessProgram } from '../schedule/lower/program.js'
import { requireSchedule } from '../schedule/require-schedule.js'
import {
  type Collective,
  isNeighborCollective,
  rootedCollectives,
  type Specification,
  upTo,
} from '../schedule/specification.js'

/** The files of the C runtime, headers first, in an order in which they compile as one file. */
export const runtimeFiles = [
  'rankweave_program.h',
  'rankweave_request.h',
  'rankweave_program.c',
  'rankweave_prepare.c',
  'rankweave_run.c',
] as const

/**
 * Returns the text of a C file of the package.
 *
 * @throws ERR_EXPORT if an application bundles this code without the package's files
 */
function cSource(name: string): string {
  try {
    return readFileSync(ownFile(`export/c/${name}`), 'utf8')
  } catch (cause) {
    throw new RankweaveError('ERR_EXPORT', `the C source ${name} is not where the package has it`, { cause })
  }
}

/** Joins C files and drops their includes of each other. @throws ERR_EXPORT */
export function inOneFile(names: readonly string[]): string {
  return names.map((name) => cSource(name).replace(/^#include "\w+\.h"\n/gm, '')).join('\n')
}

/** The most numbers in the tables of an exported program: about 100 MB of text. */
const mostTableWords = 2 ** 24

/**
 * Returns a C program for MPI-3 that runs a schedule, one rank per process, as one self-contained file. The program
 * checks its data with patterns and prints its time and that of the library's own collective. Its head documents its
 * options. Reductions are sums of 32-bit integers. The schedule should have been verified.
 *
 * @throws ERR_EXPORT for a neighborhood collective without topology, and for more than {@link mostTableWords} table
 *   words
 * @throws ERR_SCHEDULE as `lower`
 */
export function cProgram(schedule: Schedule): string {
  return [...cProgramPieces(schedule)].join('')
}

/** Returns {@link cProgram} in pieces, at least one per rank. Throws before the first piece. */
export function cProgramPieces(schedule: Schedule): Iterable<string> {
  requireSchedule(schedule)
  const { specification } = schedule
  const { collective, ranks } = specification
  if (isNeighborCollective(collective) && !isNeighborSchedule(schedule)) {
    const message = `expected a schedule with its topology, got a ${collective} without`
    throw new RankweaveError('ERR_EXPORT', message)
  }
  const { ownBlock, reductions, slotTerm } = specification
  // Slots and own blocks are written twice, in the program and in its check, so they bound the size before the work.
  let words = 3 * reductions.first.length
  requireWords(words + 2 * (slotTerm.length + ownBlock.length))
  const runtime = [inOneFile(runtimeFiles), inOneFile(['exported_tables.h']), inOneFile(['exported_main.c'])]
  const { programs } = lower(schedule, upTo(ranks), ranks)
  const tables: RankTable[] = []
  for (const program of programs) {
    const table = rankTable(schedule, program)
    words += table.words.length
    requireWords(words)
    tables.push(table)
  }
  return pieces(schedule, runtime, tables)
}

/** The words of one rank in exported_tables.h, and how many of them are its program. */
interface RankTable {
  readonly words: Int32Array
  readonly programWords: number
}

function rankTable(schedule: Schedule, program: ProcessProgram): RankTable {
  const { specification, topology } = schedule
  const rank = program.ranks[0]
  const words = programWords(program, specification.ranks, schedule.opAfter.length > 0)
  const row = (values: Int32Array, starts: Int32Array): Int32Array =>
    values.subarray(starts[rank], starts[rank + 1])
  const neighbors = (values: Int32Array, starts: Int32Array): readonly ArrayLike<number>[] => {
    const list = row(values, starts)
    return [[list.length], list]
  }
  const cut = unitCut(specification)
  return {
    words: concatenateWords([
      words,
      row(specification.ownBlock, specification.ownStart),
      row(specification.slotTerm, specification.slotStart),
      ...(cut > 1 ? [program.valueTerm.map((term) => partOfUnit(term, specification, cut))] : []),
      ...(topology === null
        ? []
        : [
            ...neighbors(topology.inRank, topology.inStart),
            ...neighbors(topology.outRank, topology.outStart),
          ]),
    ]),
    programWords: words.length,
  }
}

/** Returns the part of its unit that a block or partial result is. */
function partOfUnit(term: number, { partStart }: Specification, cut: number): number {
  if (term < 0) return ~term % cut
  return (term - partStart[rangeAt(partStart, term)]) % cut
}

function requireWords(words: number): void {
  if (words <= mostTableWords) return
  throw new RankweaveError(
    'ERR_EXPORT',
    `a C program holds at most ${mostTableWords} numbers in its tables, and this schedule has more`,
    { details: { most: mostTableWords } },
  )
}

function* pieces(
  schedule: Schedule,
  [runtime, declarations, main]: readonly string[],
  tables: readonly RankTable[],
): Iterable<string> {
  const { ranks } = schedule.specification
  yield head(schedule)
  yield `\n${runtime}\n${declarations}\n`
  for (const [rank, { words }] of tables.entries()) yield definition(`rank_${rank}`, words)
  const rows = tables.map(({ programWords }, rank) => `{rank_${rank}, ${programWords}}`)
  yield `const struct exported_rank exported_ranks[${ranks}] = {\n${lines(rows)}};\n`
  yield constants(schedule)
  yield `\n${main}`
}

function constants({ specification, strategy }: Schedule): string {
  const { collective, ranks, reductions } = specification
  const isReduction = reductions.runStart.length > 1 && collective !== 'barrier'
  const { runStart, first, count, stride } = reductions
  return [
    `const int exported_rank_count = ${ranks};\n`,
    `const enum exported_collective exported_collective = exported_${collective.replaceAll('-', '_')};\n`,
    `const char exported_collective_name[] = "${collective}";\n`,
    `const char exported_strategy[] = "${cText(strategy)}";\n`,
    `const int exported_is_neighborhood = ${isNeighborCollective(collective) ? 1 : 0};\n`,
    `const int exported_is_reduction = ${isReduction ? 1 : 0};\n`,
    `const int exported_root = ${rootOf(specification)};\n`,
    `const int32_t exported_cut = ${unitCut(specification)};\n`,
    definition('exported_run_start', runStart, 'const int32_t'),
    definition('exported_run_first', first, 'const int32_t'),
    definition('exported_run_count', count, 'const int32_t'),
    definition('exported_run_stride', stride, 'const int32_t'),
  ].join('')
}

/** Returns the rank that holds all data before or after; 0 if the collective has no root. */
function rootOf({ collective, ranks, ownStart, slotStart }: Specification): number {
  if (!(rootedCollectives as readonly Collective[]).includes(collective)) return 0
  const starts = collective === 'bcast' || collective === 'scatter' ? ownStart : slotStart
  for (let rank = 0; rank < ranks; rank++) if (starts[rank + 1] > starts[rank]) return rank
  return 0
}

/** Defines an array in C, which has at least one element. */
function definition(name: string, values: Int32Array, type = 'static const int32_t'): string {
  return `${type} ${name}[] = {\n${lines(values.length === 0 ? [0] : values)}};\n`
}

const mostColumns = 120

function lines(elements: Iterable<string | number>): string {
  const all: string[] = []
  let line = ''
  for (const element of elements) {
    const next = `${element},`
    if (line.length + next.length > mostColumns) {
      all.push(line)
      line = ''
    }
    line += next
  }
  return `${[...all, line].join('\n')}\n`
}

/** Makes a text safe between quotes or in a comment of C: strategies and parameters come from files. */
function cText(text: string): string {
  return text.replace(/[^\w .,:;=+()-]/g, '_')
}

function head({ specification, strategy, parameters }: Schedule): string {
  const { collective, ranks } = specification
  const isReduction = specification.reductions.runStart.length > 1 && collective !== 'barrier'
  const settings = Object.entries(parameters).map(([name, value]) => cText(`${name}=${String(value)}`))
  return `/*
 * ${collective} of ${ranks} ranks by ${cText(strategy)}${settings.length === 0 ? '' : ` (${settings.join(', ')})`}, exported by Rankweave.
 *
 * Compile  mpicc -O2 -o plan FILE.c         C99 and MPI-3, nothing else
 * Run      mpirun -n ${ranks} ./plan [options]
 *
 *   -b BYTES    ${bytesText(collective)} (default 64${isReduction ? '; a multiple of 4' : ''})
 *   -n SAMPLES  how often each is timed; 0: only check (default 21)
 *   -s STARTS   starts in a sample (default 10)
 *   -j          print one line of JSON
 *
 * It runs the plan four times with different data and compares every ${isReduction ? 'sum of 32-bit integers' : 'byte'} with what it must be. Then it times the
 * plan and the MPI library's own call by turns, and prints the median over samples of the slowest rank's mean time.
 * Exit codes: 0 done, 1 wrong data, 2 bad options or another number of processes, 3 an error of MPI.
 *
 * To use the plan in a program of yours, take everything above the main program, and see how run_plan uses it: make a
 * request with rw_request_create once, then rw_start and rw_wait as often as you like.
 */
`
}

function bytesText(collective: Collective): string {
  switch (collective) {
    case 'neighbor-alltoall':
      return 'bytes of the block along every edge'
    case 'neighbor-allgather':
    case 'neighbor-reduce':
      return 'bytes of the block of every rank'
    case 'barrier':
      return 'without effect'
    case 'scatter':
    case 'alltoall':
    case 'reduce-scatter':
      return 'bytes that one rank gets from another'
    default:
      return 'bytes of every contribution'
  }
}

/**
 * Returns the program of a process that hosts one rank as the words that `rw_program_of_words` reads
 * (c/rankweave_program.h). Frames without values are omitted: both ends know that they are empty, and nothing waits for
 * them.
 *
 * @param waits the schedule has waits: its empty frames may be tokens
 */
export function programWords(program: ProcessProgram, ranks: number, waits = false): Int32Array {
  const { send, receive, combine, gates, fillStart, fillSlot, ranks: hosted, ownStart, valueTerm } = program
  const isFilled = (start: Int32Array) => (_: number, frame: number) =>
    waits || start[frame + 1] > start[frame]
  const sendPeer = send.peer.filter(isFilled(send.valueStart))
  const receivePeer = receive.peer.filter(isFilled(receive.valueStart))
  const slotValue = new Int32Array(fillSlot.length)
  for (let value = 0; value < valueTerm.length; value++) {
    for (let fill = fillStart[value]; fill < fillStart[value + 1]; fill++) slotValue[fillSlot[fill]] = value
  }
  const head = [
    ...[ranks, hosted[0], ownStart[1], slotValue.length],
    ...[sendPeer.length, receivePeer.length, combine.left.length, send.value.length],
  ]
  return concatenateWords([
    head,
    sendPeer,
    waits ? send.valueStart : distinct(send.valueStart),
    send.value,
    receivePeer,
    waits ? receive.valueStart : distinct(receive.valueStart),
    slotValue,
    combine.left,
    combine.right,
    ...(gates.sends.length === 0
      ? []
      : [[gates.sends.length], gates.sends, gates.receives, gates.ofSend, gates.ofReceive]),
  ])
}

/** Drops the repeated starts, which belong to empty frames. */
function distinct(starts: Int32Array): Int32Array {
  return starts.filter((start, i) => i === 0 || start !== starts[i - 1])
}
