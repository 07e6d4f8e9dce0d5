import { appendFileSync, truncateSync } from 'node:fs'
import { RankweaveError, shown } from '../errors.js'
import { fileError, readRegularFileIfThere } from '../text/whole-file.js'
import {
  checkSource,
  formatMeasurement,
  type Measurement,
  type MeasurementSource,
  type MeasuringConditions,
  measurementVersion,
  readMeasurements,
} from '../tuning/measured/measurement.js'
import { settingLine, type TuningSetting } from '../tuning/settings/setting.js'
import { callKey, isReduction, type TuningCall } from '../tuning/settings/tuning-call.js'

interface MeasurementFile {
  /** The number of points that it held when it was opened. */
  readonly held: number
  /** The bytes that were cut off with an unfinished last line; 0 for a whole file. */
  readonly cutBytes: number
  has(call: TuningCall, setting: TuningSetting): boolean
  /** Makes a missing file, so that a failure appears before anything is measured. */
  make(): void
  /** Appends a line at once, so that an interrupted process leaves whole lines and at most a part of one. */
  append(measurement: Measurement): void
}

/**
 * Opens a file to continue it. A missing file begins empty, and is not made yet. An unfinished last line is cut off if
 * it begins as lines of this source do. A file that is refused stays unchanged.
 *
 * @throws ERR_MEASUREMENT for a source that a file cannot hold, for a file of something else, for a damaged line, and
 *   for measurements under other conditions
 * @throws ERR_FILE for a file that cannot be read or written
 */
export function openMeasurementFile(path: string, conditions: MeasuringConditions): MeasurementFile {
  checkSource(conditions.source, 'measure', 'ERR_MEASUREMENT')
  const content = contentOf(path)
  const end = content.lastIndexOf(lineEnd) + 1
  const cutBytes = content.length - end
  const lines = textOf(path, content.subarray(0, end)).split('\n')
  const measured = inFile(path, () => readMeasurements(lines))
  for (const [i, measurement] of measured.entries()) requireConditions(path, conditions, measurement, i)
  if (cutBytes > 0) {
    requireOwnPart(path, conditions.source, content.subarray(end))
    atFile(path, () => truncateSync(path, end))
  }
  const points = new Set(measured.map((measurement) => pointKey(measurement, measurement)))
  return {
    held: points.size,
    cutBytes,
    has: (call, setting) => points.has(pointKey(call, setting)),
    make: () => atFile(path, () => appendFileSync(path, '')),
    append(measurement) {
      atFile(path, () => appendFileSync(path, `${formatMeasurement(measurement)}\n`))
      points.add(pointKey(measurement, measurement))
    },
  }
}

const lineEnd = 0x0a

/** The most bytes of a file to which measurements are added. */
const longestFile = 2 ** 30

function pointKey(call: TuningCall, setting: TuningSetting): string {
  return `${callKey(call)} ${settingLine(setting)}`
}

function contentOf(path: string): Buffer {
  return readRegularFileIfThere(path, longestFile) ?? Buffer.alloc(0)
}

function textOf(path: string, content: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
  } catch (cause) {
    throw refusal(path, 'expected measurements as text in UTF-8, got other bytes', cause)
  }
}

function atFile<T>(path: string, call: () => T): T {
  try {
    return call()
  } catch (cause) {
    if (cause instanceof RankweaveError) throw cause
    throw fileError('write', path, cause)
  }
}

/** Adds the name of the file to errors of lines. */
function inFile<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof RankweaveError)) throw error
    const { code, details, message } = error
    throw new RankweaveError(code, `'${path}': ${message}`, {
      details: { ...details, file: path },
      cause: error,
    })
  }
}

/** @param place of the measurement, from 0 */
function requireConditions(path: string, own: MeasuringConditions, other: Measurement, place: number): void {
  const where = `measurement ${place + 1}: expected`
  const text = ({ kind, name, machine }: MeasurementSource) => `${kind} '${name}' on '${machine}'`
  if (text(own.source) !== text(other.source)) {
    const got = `${where} those of ${text(own.source)}, got ${text(other.source)}`
    throw refusal(path, `${got}; measure into another file`)
  }
  const { collective, elementType = 'float64' } = other
  if (!isReduction(collective) || elementType === own.elementType) return
  const got = `${where} ${collective} of ${own.elementType}, got ${elementType}`
  throw refusal(path, `${got}; measure into another file`)
}

/** Requires an unfinished line to begin as measurements of a source do. */
function requireOwnPart(path: string, source: MeasurementSource, part: Buffer): void {
  const { kind, name, machine } = source
  const head = JSON.stringify({ version: measurementVersion, source: { kind, name, machine } })
  const begin = Buffer.from(`${head.slice(0, -1)},`)
  const length = Math.min(begin.length, part.length)
  if (part.subarray(0, length).equals(begin.subarray(0, length))) return
  const got = shown(part.subarray(0, 80).toString())
  throw refusal(path, `expected measurements, got a last line of something else: ${got}`)
}

function refusal(path: string, message: string, cause?: unknown): RankweaveError {
  return new RankweaveError('ERR_MEASUREMENT', `'${path}': ${message}`, { details: { file: path }, cause })
}
