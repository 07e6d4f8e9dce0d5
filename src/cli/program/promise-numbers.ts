import { RankweaveError } from '../../errors.js'

/**
 * Makes a promise that is used as a number, or added to something, an error. By itself JavaScript takes it for NaN or
 * for text, so a program that forgets an `await` would continue with that. As text it stays `[object Promise]`, with one
 * warning of Node, because a logger may print anything.
 *
 * @returns a function that restores what was before
 */
export function refusePromisesAsNumbers(): () => void {
  const prototype = Promise.prototype as Promise<unknown> & { [Symbol.toPrimitive]?: unknown }
  const before = Object.getOwnPropertyDescriptor(prototype, Symbol.toPrimitive)
  let hasWarned = false
  Object.defineProperty(prototype, Symbol.toPrimitive, {
    configurable: true,
    writable: true,
    value(this: unknown, hint: string) {
      if (hint === 'string') {
        if (!hasWarned)
          process.emitWarning('a promise became text: is an await missing?', {
            type: 'RankweaveWarning',
            code: 'RANKWEAVE_PROMISE',
          })
        hasWarned = true
        return Object.prototype.toString.call(this)
      }
      throw new RankweaveError('ERR_TYPE', 'expected a number, got a promise: is an await missing?')
    },
  })
  return () => {
    if (before === undefined) delete prototype[Symbol.toPrimitive]
    else Object.defineProperty(prototype, Symbol.toPrimitive, before)
  }
}
