const { crypto } = globalThis

/** Random bytes from the system's generator, for secrets. */
export function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count))
}

const hexDigits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Two lower-case digits per byte. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => hexDigits[byte]).join('')
}

/** @param text an even number of hexadecimal digits, which the caller has checked */
export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: text.length / 2 }, (_, n) =>
    Number.parseInt(text.slice(2 * n, 2 * n + 2), 16),
  )
}

/**
 * Whether two texts are equal. The time does not depend on where they differ, so that a secret cannot be
 * guessed character by character; it does depend on their length, which is no secret.
 */
export function equalSecrets(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  const length = Math.min(a.length, b.length)
  for (let n = 0; n < length; n++) difference |= a.charCodeAt(n) ^ b.charCodeAt(n)
  return difference === 0
}
