import { jsonDepth } from '../../base/json-depth.js'
import { requireKnownOptions } from '../../base/known-options.js'
import { RankweaveError, shown, wrongValue } from '../../errors.js'
import { checkSetting } from '../settings/setting.js'
import { callLimits } from '../settings/tuning-call.js'
import {
  checkSource,
  elementTypes,
  type Measurement,
  measurementLimits,
  measurementVersion,
  medianTime,
} from './measurement.js'

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
