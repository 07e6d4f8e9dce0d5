import { RankweaveError } from '../errors.js'
import type { ByteSource } from './byte-source.js'
import { Crc32 } from './crc32.js'
import { type BitSource, Inflater } from './inflate.js'

/** A file expands to at most this many bytes and this many times its own length: a small file may expand a thousandfold. */
export const expansionLimit = { bytes: 2 ** 26, times: 256 } as const

const inputBytes = 1 << 16
/** Flags of a member's header (RFC 1952, section 2.3.1). */
const flag = { headerCrc: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 }

/**
 * What a gzip source expands to, as a source: one member after another, each with its checksum and length verified.
 * Synchronous, as all readers are, where node:zlib is not; memory is constant.
 *
 * @param file name in messages
 * @throws ERR_FILE while reading: truncated or corrupt data, or data that expands beyond {@link expansionLimit}
 */
export function gunzipSource(source: ByteSource, file: string): ByteSource {
  const gunzip = new Gunzip(source, file)
  return { sizeBytes: null, read: (into) => gunzip.read(into), close: () => source.close() }
}

class Gunzip implements BitSource {
  readonly #source: ByteSource
  readonly #file: string
  readonly #input = new Uint8Array(inputBytes)
  #at = 0
  #end = 0
  /** Bytes of the source before the buffer. */
  #base = 0
  #ended = false
  readonly #inflater: Inflater
  readonly #crc = new Crc32()
  #expanded = 0
  #memberBytes = 0
  /** The first byte of the next member, -1 while it has not been read. */
  #first = -1
  #state: 'header' | 'data' | 'end' = 'header'

  constructor(source: ByteSource, file: string) {
    this.#source = source
    this.#file = file
    this.#inflater = new Inflater(this)
  }

  read(into: Uint8Array): number {
    while (this.#state !== 'end' && into.length > 0) {
      if (this.#state === 'header') this.#readHeader()
      const count = this.#inflater.read(into)
      if (count > 0) {
        this.#crc.add(into, count)
        this.#memberBytes += count
        this.#expanded += count
        const read = this.#base + this.#at
        if (this.#expanded > expansionLimit.bytes + expansionLimit.times * read)
          this.#refuse(
            `expands to more than ${expansionLimit.times} times its size: gunzip it, if you trust it`,
          )
        return count
      }
      this.#readTrailer()
    }
    return 0
  }

  /** The next byte of the source, -1 at its end. */
  nextByte(): number {
    if (this.#at === this.#end) {
      if (this.#ended) return -1
      this.#base += this.#end
      this.#at = 0
      this.#end = this.#source.read(this.#input)
      this.#ended = this.#end === 0
      if (this.#ended) return -1
    }
    return this.#input[this.#at++]
  }

  corrupt(what: string): never {
    return this.#refuse(`corrupt gzip data before byte ${this.#base + this.#at}: ${what}`)
  }

  truncated(): never {
    return this.#refuse(
      `gzip data ends too early, after ${this.#base + this.#at} bytes: the file is truncated`,
    )
  }

  #refuse(reason: string): never {
    throw new RankweaveError('ERR_FILE', `cannot read '${this.#file}': ${reason}`, {
      details: { file: this.#file },
    })
  }

  #readHeader(): void {
    const id1 = this.#first < 0 ? this.#byte() : this.#first
    const [id2, method, flags] = [this.#byte(), this.#byte(), this.#byte()]
    if (id1 !== 0x1f || id2 !== 0x8b) this.corrupt('no gzip header')
    if (method !== 8 || (flags & flag.reserved) !== 0) this.corrupt('an unknown method of compression')
    for (let i = 0; i < 6; i++) this.#byte() // time, level, operating system
    if ((flags & flag.extra) !== 0) for (let left = this.#word16(); left > 0; left--) this.#byte()
    for (const text of [flag.name, flag.comment]) if ((flags & text) !== 0) while (this.#byte() !== 0);
    if ((flags & flag.headerCrc) !== 0) this.#word16()
    this.#inflater.restart()
    this.#crc.reset()
    this.#memberBytes = 0
    this.#state = 'data'
  }

  #readTrailer(): void {
    const crc = this.#word32()
    const length = this.#word32()
    if (crc !== this.#crc.value) this.corrupt('the checksum does not match')
    if (length !== this.#memberBytes >>> 0) this.corrupt('the length does not match')
    let next = this.#inflater.alignedByte()
    while (next === 0) next = this.#inflater.alignedByte() // padding to whole blocks, as of tapes
    this.#first = next
    this.#state = next < 0 ? 'end' : 'header'
  }

  #byte(): number {
    const byte = this.#inflater.alignedByte()
    return byte < 0 ? this.truncated() : byte
  }

  #word16(): number {
    return this.#byte() | (this.#byte() << 8)
  }

  #word32(): number {
    return (this.#word16() | (this.#word16() << 16)) >>> 0
  }
}
