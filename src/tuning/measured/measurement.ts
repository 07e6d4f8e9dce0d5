import { jsonDepth } from '../../base/json-depth.js'
import { requireKnownOptions } from '../../base/known-options.js'
import { quantile } from '../../base/search.js'
import { type ErrorCode, RankweaveError, shown, wrongValue } from '../../errors.js'
import { isPrintable } from '../../text/printable.js'
import { checkSetting, settingLine, type TuningSetting } from '../settings/setting.js'
import { callLimits, type TuningCall } from '../settings/tuning-call.js'

/**
 * A measurement of one setting at one call: a line of a file of measurements.
 *
 * **File.** JSON Lines, UTF-8: one object a line, at most 65,536 characters each, at most 2^20 lines. A line is
 * complete by itself, so programs append to files and join them line by line. Of two lines for one setting and call,
 * the later one counts. Members that are not listed here are refused.
 *
 * ```json
 * {"version":1,"source":{"kind":"mpi","name":"Open MPI 4.1.4","machine":"grig"},"collective":"bcast",
 *  "algorithm":"pipeline","parameters":{"segment":8192},"nodes":4,"processesPerNode":2,"bytes":1048576,
 *  "timesUs":[912.5,914,913.1],"intervalUs":[912.5,914]}
 * ```
 *
 * (in a file, on one line). `operation`, `order`, `isMemoryShared` and `elementType` follow `bytes` where they are
 * stated.
 *
 * **Time.** Microseconds, above 0: of one call, from the first process that enters it to the last that leaves it, less
 * the barrier that separates repetitions. The time of a point is the median of its times.
 *
 * A setting that cannot serve a call has no line for it.
 *
 * @see Pjesivac-Grbovic 2007 §5.1, App. A.1.1
 */
export interface Measurement extends TuningCall, TuningSetting {
  readonly version: typeof measurementVersion
  readonly source: MeasurementSource
  /** The elements that a reduction combines. Absent: `float64`. */
  readonly elementType?: ElementType
  /** The times of every repetition that counts, 1 to 1,024 of them, in the order of measurement. */
  readonly timesUs: readonly number[]
  /** The 95% confidence interval of the median, `[low, high]`; both are the time if it is computed. */
  readonly intervalUs: readonly [number, number]
  /**
   * The median of the barrier that separated repetitions. It has been subtracted, and may hide as much of the call.
   * Absent if nothing was subtracted.
   */
  readonly barrierUs?: number
}

export const measurementVersion = 1

/** The elements that measured reductions combine; other collectives move bytes. */
export const elementTypes = ['float64', 'int32'] as const
export type ElementType = (typeof elementTypes)[number]

/** The conditions that measurements in one file share. */
export interface MeasuringConditions {
  readonly source: MeasurementSource
  readonly elementType: ElementType
}

/** The source of times. Times of different sources are not compared. */
export interface MeasurementSource {
  /** The kind: `rankweave` on a fabric, `mpi` for an MPI library, `simulator` and `formula` for computed times. */
  readonly kind: SourceKind
  /** The fabric, the MPI library with its version, or the model: 1 to 200 printable characters. */
  readonly name: string
  /** The machine on which they ran, or for which they are computed: 1 to 200 printable characters. */
  readonly machine: string
}

const sourceKinds = ['rankweave', 'mpi', 'simulator', 'formula'] as const

export type SourceKind = (typeof sourceKinds)[number]

export const measurementLimits = {
  /** The most characters of a line. */
  characters: 2 ** 16,
  lines: 2 ** 20,
  times: 1024,
  /** A call takes a picosecond to eleven days, so that sums and ratios of times stay finite. */
  leastUs: 1e-6,
  mostUs: 1e12,
  sourceCharacters: 200,
} as const

const members: Readonly<Record<keyof MeasurementSource, true>> = { kind: true, name: true, machine: true }

/**
 * Checks a source that came from a file.
 *
 * @param where the file and line, for messages
 * @throws code for a member that is missing, unknown or out of range
 */
export function checkSource(source: unknown, where: string, code: ErrorCode): void {
  requireKnownOptions(`${where}, source`, source, members, code)
  const given = source as Readonly<Record<string, unknown>>
  const { kind } = given
  if (!(sourceKinds as readonly unknown[]).includes(kind))
    throw wrongValue(code, `${where}: expected source.kind among ${sourceKinds.join(', ')}`, kind)
  for (const name of ['name', 'machine']) {
    const text = given[name]
    const most = measurementLimits.sourceCharacters
    if (typeof text === 'string' && text.length <= most && text !== '' && isPrintable(text)) continue
    throw wrongValue(code, `${where}: expected source.${name} as 1 to ${most} printable characters`, text)
  }
}

/**
 * Returns the median of repetitions, which counts as their time: the mean of the two middle ones for an even number.
 */
export function medianTime(times: readonly number[]): number {
  return quantile(
    times.toSorted((a, b) => a - b),
    0.5,
  )
}

/**
 * Returns measurements without those of some settings. A text names an algorithm, or its settings with such parameters,
 * whatever the other parameters are. The measured parameters depend on the number of processes, so a text may name a
 * value that was not measured ({@link unmeasuredTexts}).
 *
 * @param texts such as `knomial` or `knomial:radix=2`
 * @throws ERR_MEASUREMENT for a text that names no measured algorithm with such parameters, and if nothing is left
 */
export function withoutSettings(
  measurements: readonly Measurement[],
  texts: readonly string[],
): readonly Measurement[] {
  const other = texts.find((text) => !measurements.some((one) => hasNames(text, one)))
  if (other !== undefined) {
    const lines = [...new Set(measurements.map(settingLine))].sort().join(', ')
    throw wrongValue('ERR_MEASUREMENT', `expected measured settings among ${lines}`, other)
  }
  const left = measurements.filter((one) => !texts.some((text) => isIn(text, one)))
  if (left.length > 0 || texts.length === 0) return left
  throw wrongValue('ERR_MEASUREMENT', 'expected settings that leave others to learn from', texts.join(' '))
}

/** Returns the texts of {@link withoutSettings} that leave nothing out. */
export function unmeasuredTexts(
  measurements: readonly Measurement[],
  texts: readonly string[],
): readonly string[] {
  return texts.filter((text) => !measurements.some((one) => isIn(text, one)))
}

interface NamedSettings {
  readonly algorithm: string
  /** The parameters, each as `radix=2`. */
  readonly parameters: readonly string[]
}

function namedSettings(text: string): NamedSettings {
  const colon = text.indexOf(':')
  if (colon < 0) return { algorithm: text, parameters: [] }
  return { algorithm: text.slice(0, colon), parameters: text.slice(colon + 1).split(',') }
}

function isIn(text: string, { algorithm, parameters }: TuningSetting): boolean {
  const named = namedSettings(text)
  const own = Object.entries(parameters).map(([name, value]) => `${name}=${value}`)
  return named.algorithm === algorithm && named.parameters.every((parameter) => own.includes(parameter))
}

/** Returns whether a setting is of the algorithm, and has the parameters, whatever their values are. */
function hasNames(text: string, { algorithm, parameters }: TuningSetting): boolean {
  const named = namedSettings(text)
  const names = named.parameters.map((parameter) => /^(\w+)=\d+$/.exec(parameter)?.[1])
  return (
    named.algorithm === algorithm &&
    names.every((name) => name !== undefined && Object.hasOwn(parameters, name))
  )
}

/**
 * Returns the measurements of a file, from its lines without their ends. Empty lines are skipped.
 *
 * @throws ERR_ARGUMENT for anything but a sequence of lines, such as one text
 * @throws ERR_MEASUREMENT with the number of the line, and what was expected there
 */
export function readMeasurements(lines: Iterable<string>): Measurement[] {
  if (typeof lines === 'string' || typeof Object(lines)[Symbol.iterator] !== 'function')
    throw wrongValue('ERR_ARGUMENT', 'readMeasurements: expected lines of text', lines)
  const measurements: Measurement[] = []
  let number = 0
  for (const line of lines) {
    if (++number > measurementLimits.lines)
      throw new RankweaveError(
        'ERR_MEASUREMENT',
        `expected at most ${measurementLimits.lines} lines, got more`,
      )
    if (typeof line !== 'string') throw wrongLine(number, `expected a text, got ${shown(line)}`)
    if (line.trim() !== '') measurements.push(parseMeasurement(line, number))
  }
  return measurements
}

/**
 * Returns the line of a measurement, without its end.
 *
 * @throws ERR_MEASUREMENT for measurements that {@link parseMeasurement} refuses
 */
export function formatMeasurement(measurement: Measurement): string {
  const { version, source, collective, algorithm, parameters, nodes, processesPerNode, bytes } = measurement
  const { operation, order, isMemoryShared, elementType, timesUs, intervalUs, barrierUs } = measurement
  const line = JSON.stringify({
    ...{ version, source, collective, algorithm, parameters, nodes, processesPerNode, bytes },
    ...{ operation, order, isMemoryShared, elementType, timesUs, intervalUs, barrierUs },
  })
  parseMeasurement(line, 1)
  return line
}

/**
 * Returns a checked measurement from its line.
 *
 * @param number of the line, from 1, for messages
 * @throws ERR_MEASUREMENT for a line that is too long or not JSON, another version, a member that is missing, unknown
 *   or out of range
 */
export function parseMeasurement(line: string, number: number): Measurement {
  const { characters } = measurementLimits
  if (line.length > characters)
    throw wrongLine(number, `expected at most ${characters} characters, got ${line.length}`)
  if (jsonDepth(line, deepest) > deepest)
    throw wrongLine(number, `expected at most ${deepest} levels of lists and objects, got more`)
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (cause) {
    throw wrongLine(number, `expected JSON, got ${shown(line)}`, cause)
  }
  return checked(value, number)
}

/** The deepest nesting: the object, and in it source, parameters and lists. */
const deepest = 2

const known: Readonly<Record<keyof Measurement, true>> = {
  ...{ version: true, source: true, collective: true, algorithm: true, parameters: true, nodes: true },
  ...{ processesPerNode: true, bytes: true, operation: true, order: true, isMemoryShared: true },
  ...{ elementType: true, timesUs: true, intervalUs: true, barrierUs: true },
}

function checked(value: unknown, number: number): Measurement {
  const where = `measurement in line ${number}`
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrongLine(number, `expected an object, got ${shown(value)}`)
  const members: Readonly<Record<string, unknown>> = value as Readonly<Record<string, unknown>>
  const expect = (isRight: boolean, name: string, expected: string) => {
    if (!isRight) throw wrongValue('ERR_MEASUREMENT', `${where}: expected ${name} ${expected}`, members[name])
  }
  const expectInteger = (name: string, least: number, most: number) =>
    expect(isIntegerIn(members[name], least, most), name, `as an integer from ${least} to ${most}`)
  const expectWord = (name: string, words: readonly unknown[]) =>
    expect(words.includes(members[name]), name, `among ${words.join(', ')}`)

  // The version comes first, because files of another version may have other members.
  expect(members['version'] === measurementVersion, 'version', String(measurementVersion))
  requireKnownOptions(where, members, known, 'ERR_MEASUREMENT')
  checkSource(members['source'], where, 'ERR_MEASUREMENT')
  checkSetting(members, where, 'ERR_MEASUREMENT')
  const { nodes, processesPerNode } = members
  expectInteger('nodes', 1, callLimits.processes)
  expectInteger('processesPerNode', 1, callLimits.processes)
  const processes = (nodes as number) * (processesPerNode as number)
  if (processes > callLimits.processes)
    throw wrongLine(number, `expected at most ${callLimits.processes} processes, got ${processes}`)
  expectInteger('bytes', 0, callLimits.bytes)
  if (members['operation'] !== undefined)
    expect(isWord(members['operation']), 'operation', 'as a word of at most 32 letters, digits and -')
  if (members['order'] !== undefined) expectWord('order', ['tree', 'ranks', 'any'])
  if (members['isMemoryShared'] !== undefined) expectWord('isMemoryShared', [true, false])
  if (members['elementType'] !== undefined) expectWord('elementType', elementTypes)
  checkTimes(members['timesUs'], members['intervalUs'], number)
  const { leastUs, mostUs } = measurementLimits
  const { barrierUs } = members
  if (barrierUs !== undefined)
    expect(isTime(barrierUs), 'barrierUs', `as a number from ${leastUs} to ${mostUs}`)
  return members as unknown as Measurement
}

/** Returns whether a value can be the name of an operation, or a word of a test. */
export function isWord(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z][a-zA-Z0-9-]{0,31}$/.test(value)
}

function isTime(value: unknown): boolean {
  const { leastUs, mostUs } = measurementLimits
  return typeof value === 'number' && value >= leastUs && value <= mostUs
}

function checkTimes(times: unknown, interval: unknown, number: number): void {
  const { leastUs, mostUs, times: most } = measurementLimits
  if (!Array.isArray(times) || times.length === 0 || times.length > most || ![...times].every(isTime))
    throw wrongLine(
      number,
      `expected timesUs as 1 to ${most} numbers from ${leastUs} to ${mostUs}, got ${shown(times)}`,
    )
  const isInterval = Array.isArray(interval) && interval.length === 2 && [...interval].every(isTime)
  const median = medianTime(times)
  if (!isInterval || interval[0] > median || interval[1] < median) {
    const expected = `expected intervalUs as two times around the median ${median}`
    throw wrongLine(number, `${expected}, got ${shown(interval)}`)
  }
}

function isIntegerIn(value: unknown, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
}

function wrongLine(number: number, what: string, cause?: unknown): RankweaveError {
  const message = `measurement in line ${number}: ${what}`
  return new RankweaveError('ERR_MEASUREMENT', message, { details: { line: number }, cause })
}
