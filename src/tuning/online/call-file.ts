import { concatenate } from '../../base/packing.js'
import { collectives } from '../../schedule/specification.js'
import type { MeasurementSource } from '../measured/measurement.js'
import { fnvHash } from '../models/tuning-file.js'
import type { TuningSetting } from '../settings/setting.js'
import { type CallRecord, recordBytes } from './call-records.js'

/**
 * The calls of all measured processes of one run, which a run writes at its end and `rankweave learn` reads.
 *
 * **File.** A line of JSON in UTF-8, at most 16 MiB, then the records of {@link recordBytes} bytes each, process by
 * process. The last 16 hexadecimal digits are FNV-1a of 64 bits over all before. A file that is cut off, damaged or of
 * another format is refused.
 */
export interface CallFile extends CallFileHeader {
  /** The records by process. A file that was read by calls has only process 0, see `readCallFile`. */
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

export const callFileFormat = 'rankweave-calls'
export const callFileVersion = 1

export const callFileLimits = { headerBytes: 2 ** 24, records: 2 ** 22, seed: 2 ** 32 - 1 } as const

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
