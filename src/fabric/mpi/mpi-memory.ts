/** The address of the memory of a view. */
export type AddressOf = (view: ArrayBufferView) => number

/**
 * Memory that does not move, for MPI to read and write. Its owner must retain it for as long as MPI may access it:
 * MPI's requests are unknown to the garbage collector.
 */
export class MpiMemory {
  readonly bytes: Uint8Array
  readonly words: Int32Array
  readonly address: number

  constructor(sizeBytes: number, addressOf: AddressOf) {
    // An array over a buffer of its own is never on the garbage-collected heap, where it would be moved.
    this.bytes = new Uint8Array(new ArrayBuffer((sizeBytes + 63) & ~63))
    this.words = new Int32Array(this.bytes.buffer)
    this.address = addressOf(this.bytes)
  }

  /** A handle or an address of `bytes` width at a multiple of 4. */
  number(offset: number, bytes: 4 | 8): number {
    const low = this.words[offset >> 2]!
    return bytes === 4 ? low : (low >>> 0) + this.words[(offset >> 2) + 1]! * 2 ** 32
  }

  setNumber(offset: number, bytes: 4 | 8, value: number): void {
    this.words[offset >> 2] = value
    if (bytes === 8) this.words[(offset >> 2) + 1] = Math.floor(value / 2 ** 32)
  }
}
