import { wrongValue } from '../../errors.js'
import type { Collective } from '../../schedule/specification.js'
import { measurementLimits } from '../measured/measurement.js'

/** The part of one process in one call. */
export interface CallRecord {
  /** The number that the members of the communicator share: 0 to 2^32 - 1. */
  readonly communicator: number
  /** The number of the call among those of collectives on that communicator, from 0. */
  readonly call: number
  readonly collective: Collective
  /** The number in the table of the collective, 0 to 4,095; 0 is the default. */
  readonly setting: number
  /** The bytes that MPI's count describes, 0 to 2^40. */
  readonly bytes: number
  /** The start in microseconds, by the clock of the process. */
  readonly startUs: number
  readonly endUs: number
}

/**
 * The bytes of a record, 8 + 8 + 4 + 4 + 4 + 4: start, end, communicator, call, low 32 bits of bytes; 8 further ones,
 * collective and setting.
 */
export const recordBytes = 32

/** The offset of the communicator's number in a record, a little-endian uint32. */
export const communicatorOffset = 16

export const recordLimits = { setting: 2 ** 12 - 1, bytes: 2 ** 40 - 1 } as const

/**
 * The calls that one process has timed, in memory of {@link recordBytes} each, which is taken at the start. Further
 * calls are not recorded.
 *
 * @see Steiner 2023 §4.6, §4.7
 */
export class CallTimes {
  readonly capacity: number
  readonly #times: Float64Array
  readonly #words: Uint32Array
  #length = 0

  /** @param capacity calls, 0 to 2^20 */
  constructor(capacity: number) {
    if (!Number.isInteger(capacity) || capacity < 0 || capacity > 2 ** 20)
      throw wrongValue('ERR_ARGUMENT', 'records of calls: expected capacity from 0 to 2^20', capacity)
    this.capacity = capacity
    const memory = new ArrayBuffer(capacity * recordBytes)
    this.#times = new Float64Array(memory)
    this.#words = new Uint32Array(memory)
  }

  get length(): number {
    return this.#length
  }

  /**
   * Adds a call that starts now. Allocates nothing.
   *
   * @param collective place in the list of the file
   * @returns its place, for {@link end}; -1 when all places are taken
   */
  start(
    communicator: number,
    call: number,
    collective: number,
    setting: number,
    bytes: number,
    startUs: number,
  ): number {
    if (this.#length === this.capacity) return -1
    const place = this.#length++
    const word = place * wordsOfRecord
    const size = Math.min(bytes, recordLimits.bytes)
    const above = size < 2 ** 32 ? 0 : Math.floor(size / 2 ** 32)
    this.#times[place * 4] = startUs
    this.#times[place * 4 + 1] = Number.NaN
    this.#words[word + 4] = communicator
    this.#words[word + 5] = call
    this.#words[word + 6] = size >>> 0
    this.#words[word + 7] = above | (collective << 8) | (setting << 12)
    return place
  }

  /** Records that the call at a place was not by its setting. */
  refuse(place: number): void {
    this.#words[place * wordsOfRecord + 7] &= 0xfff
  }

  /** Ends the call at a place. A call that never ends, or whose clock ran backwards, is not written. */
  end(place: number, endUs: number): void {
    if (endUs >= this.#times[place * 4]) this.#times[place * 4 + 1] = endUs
  }

  /** Returns the bytes of the calls that have ended, one after the other. */
  bytes(): Uint8Array {
    const ended: number[] = []
    for (let place = 0; place < this.#length; place++)
      if (!Number.isNaN(this.#times[place * 4 + 1])) ended.push(place)
    const written = new DataView(new ArrayBuffer(ended.length * recordBytes))
    for (const [i, place] of ended.entries()) {
      const at = i * recordBytes
      written.setFloat64(at, this.#times[place * 4], true)
      written.setFloat64(at + 8, this.#times[place * 4 + 1], true)
      for (let word = 4; word < wordsOfRecord; word++)
        written.setUint32(at + 4 * word, this.#words[place * wordsOfRecord + word], true)
    }
    return new Uint8Array(written.buffer)
  }
}

const wordsOfRecord = recordBytes / 4

/**
 * Yields the calls in bytes that {@link CallTimes.bytes} or a preloaded library wrote.
 *
 * @param where they are from, for messages
 * @param collectives by the places that records have, at most 16
 * @throws ERR_MEASUREMENT for a length that is not a multiple of a record, and for a record that is out of range
 */
export function* readTimedCalls(
  where: string,
  bytes: Uint8Array,
  collectives: readonly Collective[],
): Generator<CallRecord> {
  if (bytes.byteLength % recordBytes !== 0)
    throw wrongValue(
      'ERR_MEASUREMENT',
      `${where}: expected records of ${recordBytes} bytes`,
      bytes.byteLength,
    )
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < bytes.byteLength; at += recordBytes) {
    const startUs = view.getFloat64(at, true)
    const endUs = view.getFloat64(at + 8, true)
    const packed = view.getUint32(at + 28, true)
    const collective = collectives[(packed >>> 8) & 15]
    const here = `${where}, record ${at / recordBytes}`
    if (!(endUs >= startUs) || !(endUs - startUs <= measurementLimits.mostUs))
      throw wrongValue(
        'ERR_MEASUREMENT',
        `${here}: expected an end from 0 to ${measurementLimits.mostUs} us after the start`,
        endUs - startUs,
      )
    if (packed >>> 24 !== 0 || collective === undefined)
      throw wrongValue('ERR_MEASUREMENT', `${here}: expected a collective and a setting`, packed)
    yield {
      communicator: view.getUint32(at + 16, true),
      call: view.getUint32(at + 20, true),
      collective,
      setting: packed >>> 12,
      bytes: view.getUint32(at + 24, true) + (packed & 255) * 2 ** 32,
      startUs,
      endUs,
    }
  }
}
