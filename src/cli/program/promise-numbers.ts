import { RankweaveError } from '../../errors.js'

/**
 * Makes a promise that is used as a number an error. By itself JavaScript takes it for NaN, so a program that forgets an
 * `await` would continue with that. As text a promise stays `[object Promise]`.
 *
 * @returns a function that restores what was before
 */
export function refusePromisesAsNumbers(): () => void {
  const prototype = Promise.prototype as Promise<unknown> & { [Symbol.toPrimitive]?: unknown }
  const before = Object.getOwnPropertyDescriptor(prototype, Symbol.toPrimitive)
  Object.defineProperty(prototype, Symbol.toPrimitive, {
    configurable: true,
    writable: true,
    value(this: unknown, hint: string) {
      if (hint !== 'number') return Object.prototype.toString.call(this)
      throw new RankweaveError('ERR_TYPE', 'expected a number, got a promise: is an await missing?')
    },
  })
  return () => {
    if (before === undefined) delete prototype[Symbol.toPrimitive]
    else Object.defineProperty(prototype, Symbol.toPrimitive, before)
  }
}
