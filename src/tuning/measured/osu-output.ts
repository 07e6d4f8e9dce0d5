import { RankweaveError, shown } from '../../errors.js'
import type { Collective } from '../../schedule/specification.js'
import type { TuningSetting } from '../settings/setting.js'
import { callKey, isReduction } from '../settings/tuning-call.js'
import { formatMeasurement, type Measurement, parseMeasurement } from './measurement.js'

/** The output of a collective's latency test of the OSU micro-benchmarks. */
export interface OsuOutput {
  readonly file: string
  readonly collective: Collective
  /** The version; null where the test was built without one. */
  readonly version: string | null
  /** The times: the mean of the slowest rank, or the mean of all ranks where the output has no other. */
  readonly column: 'slowest rank' | 'mean of ranks'
  /** The MPI datatype of the elements; null for versions that do not name it. */
  readonly datatype: string | null
  readonly rows: readonly OsuRow[]
}

interface OsuRow {
  readonly line: number
  readonly bytes: number
  readonly timeUs: number
}

/**
 * The tests by the names in their first lines. Those of reduce-scatter are missing, because one of them has the bytes of
 * all blocks as its size and cuts them unevenly.
 */
const collectivesOf: Readonly<Record<string, Collective>> = {
  Allgather: 'allgather',
  Allreduce: 'allreduce',
  'All-to-All Personalized Exchange': 'alltoall',
  Barrier: 'barrier',
  Broadcast: 'bcast',
  Gather: 'gather',
  Reduce: 'reduce',
  Scatter: 'scatter',
}

/** The most lines of an output; a size and a line of each takes at most 64. */
const mostLines = 2 ** 12

/**
 * Reads the output of a latency test: `# OSU MPI Allreduce Latency Test v7.4`, since version 7 the datatype, the names of
 * columns, and a row a size. Versions 3 to 7 differ in the datatype and in further columns.
 *
 * @param file for messages
 * @throws ERR_MEASUREMENT with file and line: also for tests on device memory, of other operations and of two datatypes,
 *   and for rows that did not pass validation
 * @see OSU Micro-Benchmarks 7.4, c/util/osu_util_mpi.c, print_only_header and print_stats
 */
export function readOsuOutput(text: string, file: string): OsuOutput {
  const lines = text.split(/\r?\n/)
  let at = 0
  const fail = (expected: string, line = at): never => {
    const got = line > lines.length ? 'the end of the file' : shown(lines[line - 1])
    const message = `${file}, line ${line}: expected ${expected}, got ${got}`
    throw new RankweaveError('ERR_MEASUREMENT', message, { details: { file, line } })
  }
  const nextLine = (): string => {
    for (;;) {
      if (++at > mostLines) return fail(`at most ${mostLines} lines`)
      const line = lines[at - 1]
      if (line === undefined) return ''
      if (line.trim() !== '') return line.trim()
    }
  }

  const title = /^# OSU MPI(\S*) (.+) Latency Test(?: v(\S+))?$/.exec(nextLine())
  const names = Object.keys(collectivesOf).join(', ')
  if (title === null || !Object.hasOwn(collectivesOf, title[2]))
    return fail(`'# OSU MPI NAME Latency Test' with one of ${names}`)
  if (title[1] !== '') return fail('a test on host memory')
  const collective = collectivesOf[title[2]]
  let line = nextLine()
  const datatype = /^# Datatype: (\w+)\.?$/.exec(line)?.[1] ?? null
  if (datatype !== null) line = nextLine()
  const columns = line.replace(/^# */, '').split(/\s{2,}/)
  const isSized = columns[0] === 'Size'
  if (!line.startsWith('#') || columns[isSized ? 1 : 0] !== 'Avg Latency(us)')
    return fail("the names of columns, with 'Avg Latency(us)'")
  if (isSized !== (collective !== 'barrier'))
    return fail(isSized ? 'no sizes of a barrier' : "'# Size' before the latency")
  const time = columns.indexOf('Max Latency(us)')
  const validation = columns.indexOf('Validation')

  const rows: OsuRow[] = []
  for (line = nextLine(); line !== ''; line = nextLine()) {
    const fields = line.split(/\s+/)
    if (fields.length !== columns.length) fail(`${columns.length} columns`)
    if (validation >= 0 && fields[validation] !== 'Pass') fail("'Pass' as validation")
    const bytes = isSized ? wholeNumber(fields[0]) : 0
    if (bytes === null || rows.some((row) => row.bytes === bytes)) return fail('another size in bytes')
    const latency = fields[time < 0 ? (isSized ? 1 : 0) : time]
    const timeUs = /^\d{1,15}(\.\d{1,15})?$/.test(latency) ? Number(latency) : 0
    if (timeUs === 0) fail('a latency above 0')
    rows.push({ line: at, bytes, timeUs })
  }
  if (rows.length === 0) fail('rows of latencies')
  const column = time < 0 ? 'mean of ranks' : 'slowest rank'
  return { file, collective, version: title[3] ?? null, column, datatype, rows }
}

function wholeNumber(text: string): number | null {
  return /^\d{1,13}$/.test(text) ? Number(text) : null
}

/** An output with what it does not state. */
export interface OsuRun {
  readonly output: OsuOutput
  readonly setting: TuningSetting
  readonly nodes: number
  readonly processesPerNode: number
}

/**
 * Returns the measurements of outputs. An output has one time of a call, so the interval is the time itself. Of several
 * outputs for a setting and a call it is the range of their times.
 *
 * @param source the MPI library and the machine, which gets the version of the tests, the column and the datatype of
 *   reductions in addition
 * @throws ERR_MEASUREMENT for outputs whose times are not compared: of different versions, columns or datatypes of
 *   reductions; for another collective than that of the output
 */
export function osuMeasurements(
  runs: readonly OsuRun[],
  source: { readonly library: string; readonly machine: string },
): Measurement[] {
  const [first] = runs
  const typeOf = ({ output }: OsuRun) =>
    isReduction(output.collective) ? (output.datatype ?? 'MPI_FLOAT') : null
  const type = runs.map(typeOf).find((each) => each !== null) ?? null
  for (const run of runs) {
    const { output, setting } = run
    const refuse = (expected: string, got: string): never => {
      const message = `${output.file}: expected ${expected}, got ${got}`
      throw new RankweaveError('ERR_MEASUREMENT', message, { details: { file: output.file } })
    }
    if (output.collective !== setting.collective) refuse(`a test of ${setting.collective}`, output.collective)
    const [own, other] = [run, first].map((each) => `OSU ${each.output.version}, ${each.output.column}`)
    if (own !== other) refuse(`times as in ${first.output.file}, ${other}`, own)
    if ((typeOf(run) ?? type) !== type)
      refuse(`reductions of ${type}, as in outputs before`, `${typeOf(run)}`)
  }
  const marks = [
    `OSU ${first.output.version ?? ''}`.trim(),
    first.output.column,
    ...(type === null ? [] : [type]),
  ]
  const machine = `${source.machine} (${marks.join(', ')})`
  const found = new Map<
    string,
    { readonly run: OsuRun; readonly bytes: number; readonly timesUs: number[] }
  >()
  for (const run of runs)
    for (const { bytes, timeUs } of run.output.rows) {
      const { algorithm, parameters } = run.setting
      const key = JSON.stringify([callKey({ ...run, ...run.setting, bytes }), algorithm, parameters])
      const one = found.get(key) ?? { run, bytes, timesUs: [] }
      one.timesUs.push(timeUs)
      found.set(key, one)
    }
  return [...found.values()].map(({ run, bytes, timesUs }) => {
    const { setting, nodes, processesPerNode } = run
    return parseMeasurement(
      formatMeasurement({
        version: 1,
        source: { kind: 'mpi', name: source.library, machine },
        ...setting,
        ...{ nodes, processesPerNode, bytes, timesUs },
        intervalUs: [Math.min(...timesUs), Math.max(...timesUs)],
      }),
      1,
    )
  })
}
