import * as z from 'zod'
import { getOrAdd } from '../../base/maps.js'
import { RankweaveError, reasonText, wrongValue } from '../../errors.js'
import { collectives } from '../../schedule/specification.js'
import { isPrintable, printable } from '../../text/printable.js'
import { checkSource, type MeasurementSource } from '../measured/measurement.js'
import { fnvHash } from '../models/tuning-file.js'
import { checkSetting, type TuningSetting } from '../settings/setting.js'
import { callLimits } from '../settings/tuning-call.js'
import { type CallFile, callFileFormat, callFileLimits, callFileVersion } from './call-file.js'
import { type CallRecord, readTimedCalls, recordBytes, recordLimits } from './call-records.js'

const checksumBytes = 16

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
  const { format: _format, version: _version, collectives: names, records: lengths, ...statements } = header
  const expected = lengths.reduce((sum, [, count]) => sum + count * recordBytes, end + 1) + checksumBytes
  if (bytes.byteLength !== expected)
    throw fail(where, `${expected} bytes: the file was cut off or damaged`, bytes.byteLength)
  const given = new TextDecoder().decode(bytes.subarray(-checksumBytes))
  const checksum = fnvHash(bytes.subarray(0, -checksumBytes))
  if (given !== checksum) throw fail(where, `checksum ${checksum}: the file was damaged`, given)
  let at = end + 1
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
  return { ...statements, records }
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

const integer = (least: number, most: number) =>
  z.int().min(least).max(most).describe(`an integer from ${least} to ${most}`)

const processCount = integer(1, callLimits.processes)

/** The first line. Each member says in its description what was expected, for messages. */
const headerSchema = z.strictObject({
  format: z.literal(callFileFormat).describe(`'${callFileFormat}'`),
  version: z.literal(callFileVersion).describe(String(callFileVersion)),
  // `checkSource` and `checkSetting` check sources and settings of all files.
  source: z.custom<MeasurementSource>(() => true),
  mode: z
    .string()
    .regex(/^[a-z-]{1,32}$/)
    .describe('a word'),
  model: z
    .string()
    .regex(/^([0-9a-f]{16})?$/)
    .describe('16 hexadecimal digits, or none'),
  seed: integer(0, callFileLimits.seed),
  processes: processCount,
  clock: z
    .object({ name: z.string().max(64).refine(isPrintable), tickUs: z.number().min(0) })
    .describe('a name of printable characters and tickUs of at least 0'),
  settings: z
    .array(z.custom<TuningSetting>(() => true))
    .max(recordLimits.setting + 1)
    .describe(`a list of at most ${recordLimits.setting + 1}`),
  collectives: z.array(z.enum(collectives)).max(16).describe('names of at most 16'),
  communicators: z
    .array(
      z.object({
        id: integer(0, 2 ** 32 - 1),
        nodes: processCount,
        processesPerNode: processCount,
        processes: processCount,
      }),
    )
    .describe('id, nodes, processesPerNode and processes of each'),
  records: z
    .array(z.tuple([integer(0, callLimits.processes), integer(0, callFileLimits.records)]))
    .describe('pairs of a process and a number'),
})

function headerOf(where: string, line: string): z.infer<typeof headerSchema> {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (cause) {
    const reason = `${where}: expected a file of calls, got ${printable(reasonText(cause))}`
    throw new RankweaveError('ERR_MEASUREMENT', reason, { cause })
  }
  const members = Object(value)
  const { data: header, error } = headerSchema.safeParse(members)
  if (header === undefined) {
    const [issue] = error.issues
    const { shape } = headerSchema
    if (issue.code === 'unrecognized_keys')
      throw fail(where, `members among ${Object.keys(shape).join(', ')}`, issue.keys[0])
    const name = issue.path[0] as keyof typeof shape
    throw fail(`${where}, ${name}`, shape[name].description!, members[name])
  }
  checkSource(header.source, where, 'ERR_MEASUREMENT')
  for (const [i, setting] of header.settings.entries())
    checkSetting(Object(setting), `${where}, settings[${i}]`, 'ERR_MEASUREMENT')
  const { processes, records } = header
  const known = new Set<number>()
  for (const [process] of records) {
    if (process >= processes || known.has(process))
      throw fail(`${where}, records`, `processes below ${processes}, each once`, process)
    known.add(process)
  }
  const total = records.reduce((sum, [, count]) => sum + count, 0)
  if (total <= callFileLimits.records) return header
  throw fail(`${where}, records`, `at most ${callFileLimits.records} in all`, total)
}

function fail(where: string, expected: string, value: unknown): RankweaveError {
  return wrongValue('ERR_MEASUREMENT', `${where}: expected ${expected}`, value)
}
