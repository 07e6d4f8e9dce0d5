import type { PersistentRequest } from '../calls/program/persistent-request.js'
import type { Gathered } from '../calls/values/placement.js'
import type { Communicator } from '../handles/communicator.js'
import { type Request, waitall } from '../messages/p2p/request.js'
import { same } from './collective-oracles.js'

/** The names of a communicator's methods that have all forms. */
export type NamesWithForms<C> = {
  [K in keyof C & string]: `i${K}` extends keyof C ? (`${K}Init` extends keyof C ? K : never) : never
}[keyof C & string]

/** The part of one rank in a call, in each of its forms. */
export interface FormCase {
  /** The arguments of the call, and of the form whose name begins with `i`. */
  readonly call: readonly unknown[]
  readonly init: readonly unknown[]
  /** The array of the init that starts fill or leave unchanged; null if the rank passes none. */
  readonly filled: unknown
  /** Returns the result of the rank with the data of a round; null if it gets nothing. */
  expected(round: number): unknown
  /** Returns all of `filled` after a start. Default: the result of the rank. */
  holds?(round: number): unknown
  /** The numbers of elements of the blocks of a result of varying blocks. */
  readonly counts?: readonly number[]
}

/** The cases by the name of the call; `fill` writes the data of a round into their arrays. */
export interface FormCases {
  readonly cases: Readonly<Record<string, readonly FormCase[]>>
  fill(round: number): void
}

/**
 * Calls a method of a communicator.
 *
 * @throws when it has none of that name
 */
export function callByName(comm: Communicator, name: string, args: readonly unknown[]): unknown {
  const method: unknown = Reflect.get(comm, name)
  if (typeof method !== 'function') throw new Error(`expected a communicator to have a method ${name}`)
  return Reflect.apply(method, comm, args)
}

const listOf = ({ cases }: FormCases) =>
  Object.entries(cases).flatMap(([name, each]) => each.map((form) => ({ name, form })))

export async function checkCalls(comm: Communicator, forms: FormCases): Promise<void> {
  forms.fill(0)
  for (const { name, form } of listOf(forms))
    checkResult(form, await callByName(comm, name, form.call), 0, name)
}

/** Starts every call, and waits for all in one wait, together with other requests. */
export async function checkStarts(
  comm: Communicator,
  forms: FormCases,
  others: readonly Request<unknown>[] = [],
): Promise<void> {
  forms.fill(0)
  const list = listOf(forms)
  const requests = list.map(({ name, form }) => callByName(comm, `i${name}`, form.call) as Request<unknown>)
  const results = await waitall([...requests, ...others])
  for (const [i, { name, form }] of list.entries()) checkResult(form, results[i], 0, `i${name}`)
}

export async function checkPersistentStarts(
  comm: Communicator,
  forms: FormCases,
  rounds: number,
): Promise<void> {
  const bound = listOf(forms).map(({ name, form }) => ({
    name: `${name}Init`,
    form,
    request: callByName(comm, `${name}Init`, form.init) as PersistentRequest,
  }))
  for (let round = 0; round < rounds; round++) {
    forms.fill(round)
    await Promise.all(bound.map(({ request }) => request.start()))
    for (const { name, form } of bound) checkFilled(form, round, `start ${round} of ${name}`)
  }
  for (const { request } of bound) request.free()
}

/** Checks the whole array of an init after a start with the data of a round. */
export function checkFilled(form: FormCase, round: number, what: string): void {
  same(form.filled, form.holds?.(round) ?? form.expected(round), what)
}

export function checkResult(form: FormCase, result: unknown, round: number, what: string): void {
  const gathered = form.counts === undefined ? null : (result as Gathered | null)
  if (gathered !== null) same([...gathered.counts], form.counts, `counts of ${what}`)
  same(gathered?.data ?? result ?? null, form.expected(round), what)
}
