import { HuffmanTable } from './huffman-table.js'

/** Where compressed bytes come from, and how errors in them are thrown. */
export interface BitSource {
  /** The next byte, -1 at the end. */
  nextByte(): number
  corrupt(what: string): never
  truncated(): never
}

const historyBytes = 1 << 15
const longestMatch = 258
/** History, and what is produced at a time. */
const windowBytes = 4 * historyBytes

/** Symbol of the end of a block; those above are lengths of matches. */
const blockEnd = 256
const lengthBase = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195,
  227, 258,
]
const lengthBits = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0]
const distanceBase = Array.from({ length: 30 }, (_, i) =>
  i < 4 ? i + 1 : 1 + (2 + (i & 1)) * 2 ** ((i >> 1) - 1),
)
const distanceBits = Array.from({ length: 30 }, (_, i) => Math.max(0, (i >> 1) - 1))
/** In which order the lengths of the codes of code lengths are stored. */
const lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

/** Expands DEFLATE data in constant memory (RFC 1951). */
export class Inflater {
  readonly #source: BitSource
  /** Bits read from the source and not used yet, the next one lowest. */
  #bits = 0
  #bitCount = 0
  /** How many of them are padding after the end of the source. */
  #padding = 0
  readonly #window = new Uint8Array(windowBytes)
  #produced = 0
  #taken = 0
  #block: 'none' | 'stored' | 'coded' = 'none'
  #isLastBlock = false
  #storedLeft = 0
  readonly #symbols = new HuffmanTable()
  readonly #distances = new HuffmanTable()
  readonly #lengths = new Uint8Array(288 + 32)

  constructor(source: BitSource) {
    this.#source = source
  }

  /** Begins a new stream. */
  restart(): void {
    this.#produced = 0
    this.#taken = 0
    this.#block = 'none'
    this.#isLastBlock = false
  }

  /** Expands some bytes, at least one, into `into` and returns their number; 0 at the end of the stream. */
  read(into: Uint8Array): number {
    if (this.#taken === this.#produced) this.#produce()
    const count = Math.min(into.length, this.#produced - this.#taken)
    into.set(this.#window.subarray(this.#taken, this.#taken + count))
    this.#taken += count
    return count
  }

  /** The next whole byte after the stream, -1 at the end of the source. */
  alignedByte(): number {
    this.#drop(this.#bitCount % 8)
    if (this.#bitCount === 0) return this.#source.nextByte()
    if (this.#bitCount <= this.#padding) return -1
    const byte = this.#bits & 0xff
    this.#drop(8)
    return byte
  }

  /** Fills the window behind what has been taken. */
  #produce(): void {
    const kept = Math.min(this.#produced, historyBytes)
    this.#window.copyWithin(0, this.#produced - kept, this.#produced)
    this.#produced = this.#taken = kept
    const full = windowBytes - longestMatch
    while (this.#produced < full) {
      if (this.#block === 'none') {
        if (this.#isLastBlock) return
        this.#beginBlock()
      }
      if (this.#block === 'stored') this.#copyStored()
      else if (this.#block === 'coded') this.#decode(full)
    }
  }

  #beginBlock(): void {
    this.#isLastBlock = this.#take(1) === 1
    const kind = this.#take(2)
    if (kind === 0) {
      this.#drop(this.#bitCount % 8)
      this.#storedLeft = this.#take(16)
      if (this.#take(16) !== (this.#storedLeft ^ 0xffff)) this.#source.corrupt('the length of a stored block')
      this.#block = this.#storedLeft === 0 ? 'none' : 'stored'
      return
    }
    if (kind === 1) this.#fixedCodes()
    else if (kind === 2) this.#dynamicCodes()
    else this.#source.corrupt('an unknown kind of block')
    this.#block = 'coded'
  }

  #copyStored(): void {
    while (this.#storedLeft > 0 && this.#produced < windowBytes) {
      const byte = this.alignedByte()
      if (byte < 0) this.#source.truncated()
      this.#window[this.#produced++] = byte
      this.#storedLeft--
    }
    if (this.#storedLeft === 0) this.#block = 'none'
  }

  #fixedCodes(): void {
    this.#lengths.fill(8, 0, 144).fill(9, 144, 256).fill(7, 256, 280).fill(8, 280, 288)
    this.#symbols.assign(this.#lengths, 0, 288)
    this.#lengths.fill(5, 0, 32)
    this.#distances.assign(this.#lengths, 0, 32)
  }

  #dynamicCodes(): void {
    const lengths = this.#lengths
    const symbolCount = this.#take(5) + 257
    const count = symbolCount + this.#take(5) + 1
    const codeLengths = new Uint8Array(19)
    for (let i = this.#take(4) + 4, place = 0; i > 0; i--) codeLengths[lengthOrder[place++]] = this.#take(3)
    // The table of distances is free until the lengths of its codes are known.
    const valid = this.#distances.assign(codeLengths, 0, 19)
    if (!valid) this.#source.corrupt('the lengths of codes')
    for (let i = 0; i < count; ) {
      const symbol = this.#symbol(this.#distances)
      if (symbol < 16) lengths[i++] = symbol
      else {
        if (symbol === 16 && i === 0) this.#source.corrupt('the lengths of codes')
        const repeated = symbol === 16 ? lengths[i - 1] : 0
        const times =
          symbol === 16 ? 3 + this.#take(2) : symbol === 17 ? 3 + this.#take(3) : 11 + this.#take(7)
        if (i + times > count) this.#source.corrupt('the lengths of codes')
        lengths.fill(repeated, i, i + times)
        i += times
      }
    }
    const assigned =
      lengths[blockEnd] > 0 &&
      this.#symbols.assign(lengths, 0, symbolCount) &&
      this.#distances.assign(lengths, symbolCount, count)
    if (!assigned) this.#source.corrupt('the codes of a block')
  }

  #decode(full: number): void {
    const window = this.#window
    let at = this.#produced
    while (at < full) {
      const symbol = this.#symbol(this.#symbols)
      if (symbol < blockEnd) {
        window[at++] = symbol
        continue
      }
      if (symbol === blockEnd) {
        this.#block = 'none'
        break
      }
      const l = symbol - blockEnd - 1
      if (l >= lengthBase.length) this.#source.corrupt('the length of a match')
      const length = lengthBase[l] + this.#take(lengthBits[l])
      const d = this.#symbol(this.#distances)
      if (d >= distanceBase.length) this.#source.corrupt('the distance of a match')
      const distance = distanceBase[d] + this.#take(distanceBits[d])
      if (distance > at) this.#source.corrupt('a match before the beginning')
      // Byte by byte: a match may overlap what it produces.
      for (const end = at + length; at < end; at++) window[at] = window[at - distance]
    }
    this.#produced = at
  }

  #symbol(table: HuffmanTable): number {
    if (this.#bitCount < 15) this.#fill()
    const entry = table.entries[this.#bits & 0x7fff]
    if (entry === 0) this.#padding > 0 ? this.#source.truncated() : this.#source.corrupt('an unknown code')
    this.#drop(entry & 15)
    return entry >> 4
  }

  #take(count: number): number {
    if (this.#bitCount < count) this.#fill()
    const value = this.#bits & ((1 << count) - 1)
    this.#drop(count)
    return value
  }

  #drop(count: number): void {
    this.#bits >>>= count
    this.#bitCount -= count
    if (this.#bitCount < this.#padding) this.#source.truncated()
  }

  /** Reads whole bytes up to 25 bits or more; after the end of the source zeros, whose use is an error. */
  #fill(): void {
    while (this.#bitCount <= 24) {
      const byte = this.#source.nextByte()
      if (byte < 0) this.#padding += 8
      else this.#bits |= byte << this.#bitCount
      this.#bitCount += 8
    }
  }
}
