import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import * as z from 'zod'
import { bytesOption } from '../../base/option.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { levels } from '../../machine/profile.js'
import type { EvenSpread } from '../../measure/grid.js'
import { type MeasuredOrder, powersOfTwo } from '../../measure/grid.js'
import { type Collective, collectives, isNeighborCollective } from '../../schedule/specification.js'
import { isPrintable } from '../../text/printable.js'
import { type ElementType, elementTypes, measurementLimits } from '../../tuning/measured/measurement.js'
import { callLimits } from '../../tuning/settings/tuning-call.js'
import { json, type OptionValues, oneOf, option, whole } from './options.js'
import { measuredWorldOptions, tuningOption, worldOptions } from './world-options.js'

/** The collectives that are measured: all but the ones over a topology. */
export const measuredCollectives: readonly Collective[] = collectives.filter(
  (name) => !isNeighborCollective(name),
)

const length = bytesOption({ least: 0, most: callLimits.bytes })

/** Reads `8:1MiB`, powers of two in a range, or lengths with commas between. */
function lengths(what: string) {
  return parsed(
    `${what}: LEAST:MOST for powers of two, or lengths with commas between, as 8 or 64KiB`,
    (text) => {
      const range = /^([^:,]+):([^:,]+)$/.exec(text)
      if (range === null) return distinct(allOf(text.split(',').map((part) => length.parse(part))))
      const [least, most] = [length.parse(range[1]), length.parse(range[2])]
      if (least === undefined || most === undefined) return undefined
      const values = powersOfTwo(least, most)
      return values.length === 0 ? undefined : values
    },
  )
}

/** Reads `4x2,2x4`: nodes x processes on each. */
const spreads = parsed(
  'spreads of 2 processes or more, as NODESxPROCESSES with commas between, as 4x2,2x4',
  (text) => {
    const each = [...new Set(text.split(','))].map((part): EvenSpread | undefined => {
      const [, ...numbers] = /^([1-9]\d{0,6})x([1-9]\d{0,6})$/.exec(part) ?? []
      const [nodes = 0, processesPerNode = 0] = numbers.map(Number)
      const processes = nodes * processesPerNode
      return processes < 2 || processes > callLimits.processes ? undefined : { nodes, processesPerNode }
    })
    return allOf(each)
  },
)

const orders = parsed("'tree', 'any' or 'tree,any'", (text) => {
  const words = text.split(',')
  const isRight =
    words.every((word) => word === 'tree' || word === 'any') && new Set(words).size === words.length
  return isRight ? (words as readonly MeasuredOrder[]) : undefined
})

/** The options of an overview, beside those of its world. */
export const overviewOptions = {
  runs: option('--runs <number>', 'of --ranks: runs of every operation', whole(1, 999), '5'),
  topology: option(
    '--topology <spec>',
    'of --ranks: the topology of its neighbors, as plan takes it (default: a Moore grid of all ranks, radius 2)',
  ),
  ...tuningOption,
}

export const measureOptions = {
  output: option(
    '-o, --output <file>',
    'the file of measurements, in JSON Lines, which is continued',
    z.string().min(1),
  ),
  source: option(
    '--source <name>',
    'rankweave, mpi, simulator or formula',
    oneOf('rankweave', 'mpi', 'simulator', 'formula'),
    'rankweave',
  ),
  bytes: option(
    '--bytes <range>',
    "what MPI's count describes: LEAST:MOST for powers of two, or a list",
    lengths('bytes'),
    '8:1MiB',
  ),
  spreads: option(
    '--spreads <list>',
    'NODESxPROCESSES, as 4x2,2x4 (default: powers of two of both, and all)',
    spreads,
  ),
  algorithm: option(
    '--algorithm <text...>',
    'only these: bcast-chain, or bcast-chain:fanout=4 (default: all that serve)',
    z.array(z.string()),
  ),
  segments: option(
    '--segments <list>',
    'bytes of segments that are tried, 0 for whole data',
    lengths('segments, 0 for whole data'),
    '0,8KiB,64KiB',
  ),
  order: option('--order <words>', 'of reductions: tree, any or both (default: both; with mpi any)', orders),
  type: option(
    '--type <name>',
    'of the elements of reductions: float64 or int32',
    oneOf<ElementType>(...elementTypes),
    'float64',
  ),
  precision: option(
    '--precision <percent>',
    'half the 95% interval of the median that suffices',
    whole(1, 100),
    '5',
  ),
  repetitions: option(
    '--repetitions <number>',
    'of a point, at most',
    whole(1, measurementLimits.times),
    '256',
  ),
  budget: option('--budget <ms>', 'what repetitions of a point may take', whole(1, 2 ** 31), '1000'),
  longest: option(
    '--longest <bytes>',
    'calls with longer arrays in a process are left out',
    parsed('a length, as 64MiB', (given) => length.parse(given)),
    '64MiB',
  ),
  site: option(
    '--site <text>',
    'the name of the machine in the file (default: its processors)',
    parsed(`1 to ${measurementLimits.sourceCharacters} printable characters`, (given) =>
      given.length <= measurementLimits.sourceCharacters && given !== '' && isPrintable(given)
        ? given
        : undefined,
    ),
  ),
  ...measuredWorldOptions,
  launch: option('--launch <command>', "of source mpi: what starts processes, as 'mpirun -n 16'"),
  mpicc: option(
    '--mpicc <command>',
    'of source mpi: its compiler (default: that of mpirun, or the only one)',
    z.string().min(1),
  ),
  machine: option('--machine <text>', 'of source simulator: a machine with a profile'),
  profile: option(
    '--profile <name>',
    'of source formula: a built-in profile, or a file that calibrate wrote',
  ),
  level: option(
    '--level <name>',
    `of source formula: distance between processes: ${levels.join(', ')}`,
    oneOf(...levels),
    'network',
  ),
  model: option(
    '--model <name>',
    'of source formula: loggp, hockney or plogp',
    oneOf('loggp', 'hockney', 'plogp'),
    'loggp',
  ),
  check: option(
    '--check <file>',
    'measure nothing: list the guidelines that a file violates; exit code 1 if any',
    z.string().min(1),
  ),
  of: option(
    '--of <word>',
    "of --check: default or best setting of each call (default: the library's default of each collective that has one)",
    oneOf('default', 'best'),
  ),
  ranks: option(
    '-n, --ranks <number>',
    'write no file: print the times of messages, an allreduce and neighbor allgathers on so many ranks',
    worldOptions.ranks.check,
  ),
  ...overviewOptions,
  json,
}

export type MeasureFlags = OptionValues<typeof measureOptions>

function parsed<T>(expected: string, parse: (text: string) => T | undefined) {
  return z.unknown().transform((text, context): T => {
    const value = typeof text === 'string' ? parse(text) : undefined
    if (value !== undefined) return value
    context.addIssue({
      code: 'custom',
      message: `expected ${expected}, got ${JSON.stringify(text) ?? 'nothing'}`,
    })
    return z.NEVER
  })
}

function distinct(values: readonly number[] | undefined): readonly number[] | undefined {
  return values === undefined ? undefined : [...new Set(values)]
}

function allOf<T>(values: readonly (T | undefined)[]): readonly T[] | undefined {
  return values.every((value) => value !== undefined) ? values : undefined
}

/** The least bytes beyond the counts of MPI, which are of type `int`. */
const uncountableBytes = 2 ** 31

/**
 * Checks the options of `measure --source mpi` before anything is compiled.
 *
 * @returns the words of `--launch`, which are divided at spaces: at least one
 * @throws ERR_USAGE without words, or for words with quotes; for an order that MPI does not have, and bytes of a call
 *   that it does not count
 */
export function libraryLaunch({ launch, order, bytes, longest }: MeasureFlags): readonly string[] {
  const words = launchWords(launch)
  if (order?.includes('tree') === true)
    throw new RankweaveError('ERR_USAGE', '--order: expected any for --source mpi, which has no other order')
  const tooMany = bytes.find((length) => length >= uncountableBytes && length <= longest)
  if (tooMany === undefined) return words
  const expected = '--bytes: expected less than 2 GiB for --source mpi, which counts by int'
  throw wrongValue('ERR_USAGE', expected, tooMany)
}

function launchWords(launch = ''): readonly string[] {
  const text = launch.trim()
  if (text === '') throw new RankweaveError('ERR_USAGE', "--source mpi: expected --launch, as 'mpirun -n 4'")
  if (!/['"`]/.test(text)) return text.split(/\s+/)
  const expected =
    '--launch: expected words with spaces between, and a script for a command that needs quotes'
  throw wrongValue('ERR_USAGE', expected, text)
}

/** @throws ERR_USAGE for a command that is not installed: neither a path, nor a name in a folder of PATH */
export function requireInstalled(launcher: string, path = process.env['PATH'] ?? ''): void {
  const files = launcher.includes('/')
    ? [launcher]
    : path.split(delimiter).map((folder) => join(folder, launcher))
  if (files.some(isExecutable)) return
  throw wrongValue(
    'ERR_USAGE',
    '--launch: expected a command that starts processes of MPI and is installed',
    launcher,
  )
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
