import { appendFileSync, readFileSync, truncateSync } from 'node:fs'
import { RankweaveError } from '../errors.js'
import { fileError } from '../text/whole-file.js'
import type { Measurement, MeasurementSource } from '../tuning/measurement.js'
import { formatMeasurement, readMeasurements } from '../tuning/read-measurements.js'
import { settingLine, type TuningSetting } from '../tuning/setting.js'
import { callKey, type TuningCall } from '../tuning/tuning-call.js'

/** A file of measurements that is appended to. */
export interface MeasurementFile {
  /** Points that it held when it was opened. */
  readonly held: number
  /** Bytes of a last line without its end, which were cut off; 0 of a whole file. */
  readonly cutBytes: number
  has(call: TuningCall, setting: TuningSetting): boolean
  /** Appends a line at once, so that whatever ends the process leaves whole lines and at most a part of one. */
  append(measurement: Measurement): void
}

/**
 * Opens a file to continue it. A file that is not there begins empty.
 *
 * @throws ERR_MEASUREMENT for a damaged line, and for measurements of another source
 * @throws ERR_FILE for a file that cannot be read or written
 */
export function openMeasurementFile(path: string, source: MeasurementSource): MeasurementFile {
  const text = textOf(path)
  const end = text.lastIndexOf('\n') + 1
  const cutBytes = Buffer.byteLength(text.slice(end))
  const measured = inFile(path, () => readMeasurements(text.slice(0, end).split('\n')))
  for (const [i, { source: other }] of measured.entries()) requireSource(path, source, other, i)
  if (cutBytes > 0) atFile(path, () => truncateSync(path, Buffer.byteLength(text.slice(0, end))))
  atFile(path, () => appendFileSync(path, ''))
  const points = new Set(measured.map((measurement) => pointKey(measurement, measurement)))
  return {
    held: points.size,
    cutBytes,
    has: (call, setting) => points.has(pointKey(call, setting)),
    append(measurement) {
      atFile(path, () => appendFileSync(path, `${formatMeasurement(measurement)}\n`))
      points.add(pointKey(measurement, measurement))
    },
  }
}

function pointKey(call: TuningCall, setting: TuningSetting): string {
  return `${callKey(call)} ${settingLine(setting)}`
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw fileError('read', path, cause)
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

/** Errors of lines name the file. */
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

function requireSource(path: string, own: MeasurementSource, other: MeasurementSource, place: number): void {
  const text = ({ kind, name, machine }: MeasurementSource) => `${kind} '${name}' on '${machine}'`
  if (text(own) === text(other)) return
  const message = `'${path}', measurement ${place + 1}: expected those of ${text(own)}, got ${text(other)}; measure into another file`
  throw new RankweaveError('ERR_MEASUREMENT', message, { details: { file: path } })
}
