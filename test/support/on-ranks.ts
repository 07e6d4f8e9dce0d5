import { expect } from 'vitest'
import { type Main, type RunOptions, run } from '../../src/launch/run.js'

/** `run` of a function, which comes last, after the options of its world. */
export const onRanks = <T, A = undefined>(options: RunOptions<A, T>, main: Main<T, A>): Promise<T[]> =>
  run(main, options)

/** The code of the error that a call ends with, thrown or as a rejection; `none` when it succeeds. */
export async function codeOf(call: Promise<unknown> | (() => unknown)): Promise<string> {
  try {
    await (typeof call === 'function' ? call() : call)
    return 'none'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}

/** The code of the error that the function throws; `none` when it does not. */
export function thrownCode(call: () => unknown): string {
  try {
    call()
    return 'none'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}

/** Matches an error with this code, and with this message if one is given: a text, or what matches one. */
export const coded = (code: string, message: unknown = expect.any(String)) =>
  expect.objectContaining({ code, message })
