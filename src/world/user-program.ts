import { valueOption } from '../base/option.js'
import { RankweaveError, wrongValue } from '../errors.js'
import type { Communicator } from '../handles/communicator.js'

/** The program of one rank. */
export type Main<T, A> = (world: Communicator, args: A) => T | PromiseLike<T>

/**
 * The program of all ranks that a process hosts, called once per process.
 *
 * @param worlds the communicator of all ranks, one handle for each hosted rank, by ascending rank; frozen and never
 *   empty: a process without ranks is not called
 * @returns one value for each hosted rank, in that order, or undefined for all
 */
export type HostedMain<T, A> = (
  worlds: readonly Communicator[],
  args: A,
) => HostedResults<T> | PromiseLike<HostedResults<T>>

/** The values that a hosted program returns, one for each rank; undefined stands for all. */
export type HostedResults<T> = readonly T[] | undefined

/**
 * Returns the values of a hosted program. Reads each value once, because reading may run code of the program.
 *
 * @param ranks of the process
 * @throws ERR_TYPE unless it is an array, and for promises in it; ERR_COUNT for another length; what code of the
 *   program throws
 */
export function hostedValues<T>(ranks: number, results: HostedResults<T>): HostedResults<T> {
  if (results === undefined) return undefined
  const expected = `hosted: expected to return an array of ${ranks} values, one for each rank of the process, or undefined`
  if (!Array.isArray(results)) throw wrongValue('ERR_TYPE', expected, results)
  const { length } = results
  if (length !== ranks) throw new RankweaveError('ERR_COUNT', `${expected}, got ${length} values`)
  const values = Array.from({ length }, (_, index) => (results as readonly T[])[index])
  const promised = values.findIndex((value) => value instanceof Promise)
  if (promised < 0) return values
  // The list itself is the program's error; that one of its promises rejects follows from it.
  for (const value of values) if (value instanceof Promise) value.catch(() => {})
  const message = `hosted: expected values, got a promise at place ${promised} (await Promise.all of the list)`
  throw new RankweaveError('ERR_TYPE', message)
}

/** A user's program once it is loaded. */
export interface UserProgram<T, A> {
  /** Runs once per rank. */
  readonly main: Main<T, A>
  /** Runs once per process instead of `main`, if present. */
  readonly hosted?: HostedMain<T, A>
}

/** Returns a program from a function and its hosted form, if it has one. */
export function programOf<T, A>(
  main: Main<T, A>,
  hosted: boolean | HostedMain<T, A> | undefined,
): UserProgram<T, A> {
  return typeof hosted === 'function' ? { main, hosted } : { main }
}

/** The option that selects which form of a program runs. */
export const hostedOption = valueOption<never>(
  'true, false or a function (worlds, args) => ...',
  (value) => typeof value === 'boolean' || typeof value === 'function',
)

/**
 * Refuses a hosted function given together with a module, because a module exports its own.
 *
 * @throws ERR_ARGUMENT
 */
export function requireHostedForm(where: string, main: unknown, hosted: unknown): void {
  if (typeof hosted !== 'function' || typeof main === 'function') return
  const message = `${where}: expected true or false as hosted of a module, which exports it, got a function`
  throw new RankweaveError('ERR_ARGUMENT', message)
}
