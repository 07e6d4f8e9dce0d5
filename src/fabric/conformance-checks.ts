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

/** Lets the event loop turn. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}
