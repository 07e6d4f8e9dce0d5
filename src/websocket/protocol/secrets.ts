const { crypto } = globalThis

/** Draws random bytes from the system's generator, for secrets. */
export function randomBytes(count: number): Uint8Array {
  const bytes = new Uint8Array(count)
  // The generator refuses more bytes at a time.
  for (let at = 0; at < count; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536))
  return bytes
}

const hexDigits = new TextEncoder().encode('0123456789abcdef')
const latin1 = new TextDecoder('latin1')

/** Writes two lower-case digits per byte. */
export function toHex(bytes: Uint8Array): string {
  // The keys of 1,024 processes are 16 MiB, for which joined texts take seconds.
  const digits = new Uint8Array(2 * bytes.length)
  for (let n = 0; n < bytes.length; n++) {
    digits[2 * n] = hexDigits[bytes[n] >> 4]
    digits[2 * n + 1] = hexDigits[bytes[n] & 15]
  }
  return latin1.decode(digits)
}

/** @param text an even number of hexadecimal digits, which the caller has checked */
export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: text.length / 2 }, (_, n) =>
    Number.parseInt(text.slice(2 * n, 2 * n + 2), 16),
  )
}

/**
 * Returns whether two texts are equal. The time does not depend on where they differ, so that a secret cannot be
 * guessed character by character. It does depend on their length, which is no secret.
 */
export function equalSecrets(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  const length = Math.min(a.length, b.length)
  for (let n = 0; n < length; n++) difference |= a.charCodeAt(n) ^ b.charCodeAt(n)
  return difference === 0
}

/**
 * Makes the id of a new world, and the token that lets processes join: the id, a dot and a secret of 128 bits, such as
 * `1f0c...e3.9a4b...77`.
 */
export function makeToken(): { readonly id: string; readonly token: string } {
  const id = toHex(randomBytes(8))
  return { id, token: `${id}.${toHex(randomBytes(16))}` }
}

/** The token to compare with if no world has the id, so that an unknown world takes as long as a wrong secret. */
const noToken = makeToken().token

/** Returns the world that a token opens; undefined for an unknown world and for a wrong secret alike. */
export function worldOf<World extends { readonly token: string }>(
  token: string,
  worlds: ReadonlyMap<string, World>,
): World | undefined {
  const world = worlds.get(token.slice(0, 16))
  const isEqual = equalSecrets(token, world?.token ?? noToken)
  return isEqual ? world : undefined
}
