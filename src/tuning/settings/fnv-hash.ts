/** Returns FNV-1a of 64 bits over bytes, as 16 hexadecimal digits. */
export function fnvHash(bytes: Uint8Array): string {
  // The hash is in four parts of 16 bits, so that products stay below 2^26. The prime is 2^40 + 0x1b3.
  let [d, c, b, a] = [0xcbf2, 0x9ce4, 0x8422, 0x2325]
  for (const byte of bytes) {
    a ^= byte
    const a0 = a * 0x1b3
    const b0 = b * 0x1b3 + (a0 >>> 16)
    const c0 = c * 0x1b3 + (a << 8) + (b0 >>> 16)
    const d0 = d * 0x1b3 + (b << 8) + (c0 >>> 16)
    a = a0 & 0xffff
    b = b0 & 0xffff
    c = c0 & 0xffff
    d = d0 & 0xffff
  }
  return [d, c, b, a].map((part) => part.toString(16).padStart(4, '0')).join('')
}
