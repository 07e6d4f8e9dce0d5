/**
 * The checksum of a tuning file: FNV-1a of 64 bits over the UTF-8 bytes of a text without spaces, tabs and ends of
 * lines outside of strings.
 *
 * @param text the file before `,"checksum"`
 * @returns 16 hexadecimal digits
 * @see Fowler, Noll, Vo, Eastlake: The FNV Non-Cryptographic Hash Algorithm, RFC 9923
 */
export function tuningChecksum(text: string): string {
  const bytes = new TextEncoder().encode(withoutSpace(text))
  // The sum in halves of 32 bits; the prime is 2^40 + 0x1b3.
  let high = 0xcbf29ce4
  let low = 0x84222325
  for (const byte of bytes) {
    low = (low ^ byte) >>> 0
    const product = low * 0x1b3
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 2 ** 32) + (low << 8)) >>> 0
    low = product >>> 0
  }
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0')
}

/** Strings stay whole; what is no string has no quotes. */
function withoutSpace(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|[ \t\r\n]+/gs, (part) => (part.startsWith('"') ? part : ''))
}
