/** Gives the address of what a view shows. */
export type AddressOf = (view: ArrayBufferView) => number

/**
 * Memory that stays where it is, for MPI to read and write. Its owner must keep it for as long as MPI may touch it:
 * MPI's requests are unknown to the garbage collector.
 */
export class MpiMemory {
  readonly bytes: Uint8Array
  readonly words: Int32Array
  readonly address: number

  constructor(sizeBytes: number, addressOf: AddressOf) {
    // An array of its own buffer is never small enough to live on the heap, where it would be moved.
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
