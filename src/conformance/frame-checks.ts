import { isRankweaveError } from '../errors.js'

/** @throws unless the condition holds */
export function expect(condition: boolean, expected: string, actual: unknown): void {
  if (!condition) throw new Error(`expected ${expected}, got ${String(actual)}`)
}

export function expectRefused(send: () => void, what: string): void {
  try {
    send()
  } catch (error) {
    expect(isRankweaveError(error, 'ERR_FABRIC'), `ERR_FABRIC for ${what}`, error)
    return
  }
  throw new Error(`expected ERR_FABRIC for ${what}, it was accepted`)
}

export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Returns bytes that encode source, destination, frame and position, so that misrouting cannot pass. */
export function patternBytes(src: number, dst: number, n: number, sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(sizeBytes)
  for (let i = 0; i < sizeBytes; i++) bytes[i] = src * 131 + dst * 31 + n * 7 + i + (i >>> 8)
  return bytes
}

export function expectBytes(actual: Uint8Array, expected: Uint8Array): void {
  expect(actual.byteLength === expected.byteLength, `${expected.byteLength} bytes`, actual.byteLength)
  for (let i = 0; i < expected.length; i++) {
    if (actual[i] !== expected[i]) expect(false, `byte ${i} to be ${expected[i]}`, actual[i])
  }
}

export function equalWords(actual: readonly number[], expected: ArrayLike<number>): boolean {
  return actual.length === expected.length && actual.every((word, n) => word === expected[n])
}
