import { requireKnownOptions } from '../../base/known-options.js'
import { getOrAdd } from '../../base/maps.js'
import { concatenate } from '../../base/packing.js'
import { RankweaveError, reasonText, wrongValue } from '../../errors.js'
import { type Collective, collectives } from '../../schedule/specification.js'
import { isPrintable, printable } from '../../text/printable.js'
import { checkSource, type MeasurementSource } from '../measured/measurement.js'
import { fnvHash } from '../models/tuning-file.js'
import { checkSetting, type TuningSetting } from '../settings/setting.js'
import { callLimits } from '../settings/tuning-call.js'
import { type CallRecord, readTimedCalls, recordBytes, recordLimits } from './call-records.js'

/**
 * The calls of all measured processes of one run, which a run writes at its end and `rankweave learn` reads.
 *
 * **File.** A line of JSON in UTF-8, at most 16 MiB, then the records of {@link recordBytes} bytes each, process by
 * process. The last 16 hexadecimal digits are FNV-1a of 64 bits over all before. A file that is cut off, damaged or of
 * another format is refused.
 */
export interface CallFile extends CallFileHeader {
  /** The records by process. A file that was read by calls has only process 0, see {@link readCallFile}. */
  readonly records: ReadonlyMap<number, readonly CallRecord[]>
}

/** The statements of a run about itself. */
export interface CallFileHeader {
  /** The source of the times; runs of two sources are not compared. */
  readonly source: MeasurementSource
  /** The name of the selection logic. Learning takes runs of `tuning`; those of `tuned` evaluate. */
  readonly mode: string
  /** The checksum of the tuning file that the run used; empty for a run without one. */
  readonly model: string
  readonly seed: number
  readonly processes: number
  /** The clock from which times were read, with its resolution in microseconds. */
  readonly clock: { readonly name: string; readonly tickUs: number }
  /** The settings by number, of each collective that could be tuned. */
  readonly settings: readonly TuningSetting[]
  readonly communicators: readonly RecordedCommunicator[]
}

/** A communicator whose calls are recorded. */
export interface RecordedCommunicator {
  readonly id: number
  readonly nodes: number
  readonly processesPerNode: number
  readonly processes: number
}

const callFileFormat = 'rankweave-calls'
const callFileVersion = 1

export const callFileLimits = { headerBytes: 2 ** 24, records: 2 ** 22, seed: 2 ** 32 - 1 } as const

const members = {
  ...{ format: true, version: true, source: true, mode: true, model: true, seed: true, processes: true },
  ...{ clock: true, settings: true, collectives: true, communicators: true, records: true },
} as const

const checksumBytes = 16

/** Returns the bytes of a file. @param records of each measured process, as `CallTimes.bytes` returns them */
export function formatCallFile(header: CallFileHeader, records: ReadonlyMap<number, Uint8Array>): Uint8Array {
  const { source, mode, model, seed, processes, clock, settings, communicators } = header
  const lengths = [...records].map(([process, bytes]) => [process, bytes.byteLength / recordBytes])
  const line = JSON.stringify({
    ...{ format: callFileFormat, version: callFileVersion, source, mode, model, seed, processes, clock },
    ...{ settings, collectives, communicators, records: lengths },
  })
  const content = concatenate([new TextEncoder().encode(`${line}\n`), ...records.values()])
  return concatenate([content, new TextEncoder().encode(fnvHash(content))])
}

/**
 * Returns a checked file from its bytes.
 *
 * @param where the file, for messages
 * @param isByCall one record for each call, which lasts as long as the longest of its processes: the memory is that of the
 *   calls, not of the records
 * @throws ERR_MEASUREMENT for another format or version, a file that is cut off or damaged, and a member that is
 *   missing, unknown or out of range
 */
export function readCallFile(where: string, bytes: Uint8Array, isByCall = false): CallFile {
  const end = bytes.subarray(0, callFileLimits.headerBytes).indexOf(10)
  if (end < 0) {
    const got = bytes.byteLength === 0 ? 'an empty file' : `${bytes.byteLength} bytes of something else`
    const message = `${where}: expected a file of calls, as a run with online tuning writes it, got ${got}`
    throw new RankweaveError('ERR_MEASUREMENT', message)
  }
  const header = headerOf(where, new TextDecoder().decode(bytes.subarray(0, end)))
  const lengths = header['records'] as readonly (readonly [number, number])[]
  const expected = lengths.reduce((sum, [, count]) => sum + count * recordBytes, end + 1) + checksumBytes
  if (bytes.byteLength !== expected)
    throw fail(where, `${expected} bytes: the file was cut off or damaged`, bytes.byteLength)
  const given = new TextDecoder().decode(bytes.subarray(-checksumBytes))
  const checksum = fnvHash(bytes.subarray(0, -checksumBytes))
  if (given !== checksum) throw fail(where, `checksum ${checksum}: the file was damaged`, given)
  let at = end + 1
  const names = header['collectives'] as readonly Collective[]
  const records = new Map<number, readonly CallRecord[]>()
  const calls = new LongestRecords()
  for (const [process, count] of lengths) {
    const own = readTimedCalls(
      `${where}, process ${process}`,
      bytes.subarray(at, at + count * recordBytes),
      names,
    )
    if (isByCall) calls.add(own)
    else records.set(process, [...own])
    at += count * recordBytes
  }
  if (isByCall) records.set(0, calls.all())
  const { source, mode, model, seed, processes, clock, settings, communicators } =
    header as unknown as CallFileHeader
  return { source, mode, model, seed, processes, clock, settings, communicators, records }
}

/** Records by call: the first of each, with the time of the longest. */
class LongestRecords {
  readonly #records = new Map<number, Map<number, CallRecord>>()

  add(records: Iterable<CallRecord>): void {
    for (const record of records) {
      const { communicator, call } = record
      const ofCommunicator = getOrAdd(this.#records, communicator, () => new Map<number, CallRecord>())
      const known = ofCommunicator.get(call)
      const endUs = record.endUs - record.startUs
      if (known === undefined) ofCommunicator.set(call, { ...record, startUs: 0, endUs })
      else if (endUs > known.endUs) ofCommunicator.set(call, { ...known, endUs })
    }
  }

  all(): CallRecord[] {
    return [...this.#records.values()].flatMap((calls) => [...calls.values()])
  }
}

type Members = Readonly<Record<string, unknown>>

function headerOf(where: string, line: string): Members {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (cause) {
    const reason = `${where}: expected a file of calls, got ${printable(reasonText(cause))}`
    throw new RankweaveError('ERR_MEASUREMENT', reason, { cause })
  }
  const { format, version } = Object(value) as Members
  // Format and version come first, because other files may have other members.
  if (format !== callFileFormat) throw fail(`${where}, format`, `'${callFileFormat}'`, format)
  if (version !== callFileVersion) throw fail(`${where}, version`, String(callFileVersion), version)
  requireKnownOptions(where, value, members, 'ERR_MEASUREMENT')
  for (const name of Object.keys(members))
    if (!Object.hasOwn(value as object, name)) throw fail(where, `a member ${name}`, 'none')
  const header = value as Members
  checkSource(header['source'], where, 'ERR_MEASUREMENT')
  const { mode, model, seed, processes, clock } = header
  if (typeof mode !== 'string' || !/^[a-z-]{1,32}$/.test(mode)) throw fail(`${where}, mode`, 'a word', mode)
  if (typeof model !== 'string' || !/^([0-9a-f]{16})?$/.test(model))
    throw fail(`${where}, model`, '16 hexadecimal digits, or none', model)
  if (!isInteger(seed, 0, callFileLimits.seed)) throw fail(`${where}, seed`, 'an integer of 32 bits', seed)
  if (!isInteger(processes, 1, callLimits.processes))
    throw fail(`${where}, processes`, `an integer from 1 to ${callLimits.processes}`, processes)
  const { name, tickUs } = Object(clock) as Members
  if (
    typeof name !== 'string' ||
    name.length > 64 ||
    !isPrintable(name) ||
    !(Number.isFinite(tickUs) && (tickUs as number) >= 0)
  )
    throw fail(`${where}, clock`, 'a name of printable characters and tickUs of at least 0', clock)
  checkSettings(where, header['settings'])
  checkLists(where, header, processes as number)
  return header
}

function checkSettings(where: string, settings: unknown): void {
  const most = recordLimits.setting + 1
  if (!Array.isArray(settings) || settings.length > most)
    throw fail(
      `${where}, settings`,
      `a list of at most ${most}`,
      Array.isArray(settings) ? settings.length : settings,
    )
  for (const [i, setting] of settings.entries())
    checkSetting(Object(setting) as Members, `${where}, settings[${i}]`, 'ERR_MEASUREMENT')
}

function checkLists(where: string, header: Members, processes: number): void {
  const { collectives: names, communicators, records } = header
  const isName = (name: unknown) => (collectives as readonly unknown[]).includes(name)
  if (!Array.isArray(names) || names.length > 16 || !names.every(isName))
    throw fail(`${where}, collectives`, 'names of at most 16', names)
  if (!Array.isArray(communicators) || !communicators.every((communicator) => isCommunicator(communicator)))
    throw fail(`${where}, communicators`, 'id, nodes, processesPerNode and processes of each', communicators)
  let total = 0
  const known = new Set<number>()
  for (const entry of Array.isArray(records) ? records : [undefined]) {
    const [process, count] = Array.isArray(entry) ? entry : []
    if (
      !isInteger(process, 0, processes - 1) ||
      known.has(process) ||
      !isInteger(count, 0, callFileLimits.records)
    )
      throw fail(`${where}, records`, `pairs of a process below ${processes}, each once, and a number`, entry)
    known.add(process)
    total += count
  }
  if (total > callFileLimits.records)
    throw fail(`${where}, records`, `at most ${callFileLimits.records} in all`, total)
}

function isCommunicator(value: unknown): value is RecordedCommunicator {
  const { id, nodes, processesPerNode, processes } = Object(value) as Members
  return (
    isInteger(id, 0, 2 ** 32 - 1) &&
    isInteger(nodes, 1, callLimits.processes) &&
    isInteger(processesPerNode, 1, callLimits.processes) &&
    isInteger(processes, 1, callLimits.processes)
  )
}

function isInteger(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most
}

function fail(where: string, expected: string, value: unknown): RankweaveError {
  return wrongValue('ERR_MEASUREMENT', `${where}: expected ${expected}`, value)
}
