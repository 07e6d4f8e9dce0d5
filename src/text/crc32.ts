/** The checksum of gzip members (RFC 1952, section 8). */
export class Crc32 {
  #rest = -1

  get value(): number {
    return ~this.#rest >>> 0
  }

  reset(): void {
    this.#rest = -1
  }

  /** Adds the first `count` bytes. */
  add(bytes: Uint8Array, count: number): void {
    let rest = this.#rest
    for (let i = 0; i < count; i++) rest = table[(rest ^ bytes[i]) & 0xff] ^ (rest >>> 8)
    this.#rest = rest
  }
}

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte
  for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1
  return rest
})
