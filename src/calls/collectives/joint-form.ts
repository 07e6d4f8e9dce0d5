import { requireKnownOptions } from '../../base/known-options.js'
import { promiseTry } from '../../base/turn.js'
import { noteRank, RankweaveError, wrongValue } from '../../errors.js'
import { type HostedRanks, hostedBy } from '../hosted-ranks.js'
import type { CollectiveContext } from '../plan/collective-plan.js'
import { copyIfAliased } from '../values/deliver.js'
import type { Form, Handle } from './form.js'

/** A list of what each rank of a process passes, by handle. */
export type ByHandle<T> = ArrayLike<T>

/** The options of all ranks of a process, or a list with those of each. */
export type JointOptions<O> = O | readonly (O | undefined)[]

/**
 * The joint form: the ranks of a process join together within `CollectiveEngine.together`, which has the only promise.
 * The result of a single rank's call is not used, and wrong arguments throw.
 */
export const joint: Form<unknown> = {
  mayReuse: true,
  attempt(comm, name, known, options, start) {
    const seat = comm.seat()
    if (options !== undefined) requireKnownOptions(`${name}All`, options, known)
    return start(seat)
  },
  unaliased: copyIfAliased,
  join({ state, localIndex }, call, contribution, options) {
    return state.collectives.call(localIndex, call, contribution, options)
  },
}

/** The arguments of a call: lists with an entry per rank come first, its options last. */
export interface JointArguments {
  readonly lists: number
  readonly options: number
}

/**
 * Returns the form of a call for all ranks of a process.
 *
 * @param call makes one rank's call, in the form {@link joint} if it has forms
 */
export function jointly<H extends Handle>(
  name: string,
  { lists, options }: JointArguments,
  call: (comm: H, args: readonly unknown[]) => unknown,
): (comms: ArrayLike<H>, ...args: readonly unknown[]) => Promise<unknown> {
  const where = `${name}All`
  return (comms, ...args) =>
    promiseTry(() => {
      const hosted = hostedBy(where, 'handles', comms)
      for (let k = 0; k < lists; k++) requireEntries(where, args[k], comms.length)
      const given = args[options]
      const isList = Array.isArray(given)
      if (isList) requireEntries(where, given, comms.length)
      else requireSharable(where, given, comms.length)
      const own = args.slice()
      // All entries are read before any rank calls, because code that computes an entry may call another collective.
      const read = args.map((list, k) =>
        k < lists || (k === options && isList) ? entriesOf(list) : undefined,
      )
      return callAll(hosted, comms, (comm, n) => {
        for (let k = 0; k < lists; k++) own[k] = read[k]?.[n]
        if (isList) own[options] = read[options]?.[n]
        return call(comm, own)
      })
    })
}

/** Calls for each rank of a process; an error that a call throws names its rank. */
export function callAll<H extends Handle>(
  { state, places }: HostedRanks<CollectiveContext>,
  comms: ArrayLike<H>,
  call: (comm: H, n: number) => unknown,
): Promise<unknown> {
  const results = state.collectives.together(comms.length, (n) => {
    try {
      call(comms[n], n)
    } catch (error) {
      noteRank(error, state.worldRank(places?.[n] ?? n))
      throw error
    }
  })
  if (places === undefined) return results
  return results.then((all) => (Array.isArray(all) ? Array.from(places, (place) => all[place]) : all))
}

/**
 * Accepts null for a list of nulls.
 *
 * @throws ERR_COUNT
 */
function requireEntries(where: string, list: unknown, count: number): void {
  if (list === null || list === undefined) return
  const expected = `${where}: expected a list with an entry for each of ${count} handles`
  const length = typeof list === 'object' ? (list as ArrayLike<unknown>).length : undefined
  if (!Number.isInteger(length)) throw wrongValue('ERR_ARGUMENT', expected, list)
  if (length !== count) throw new RankweaveError('ERR_COUNT', `${expected}, got ${length}`)
}

function entriesOf(list: unknown): readonly unknown[] | undefined {
  return list === null || list === undefined ? undefined : Array.from(list as ArrayLike<unknown>)
}

/** @throws ERR_ARGUMENT for one buffer that several ranks would fill */
function requireSharable(where: string, options: unknown, count: number): void {
  if (count === 1 || (options as { readonly into?: unknown } | undefined)?.into === undefined) return
  const message = `${where}: expected a list of options where they have into, a buffer for each rank, got one for ${count}`
  throw new RankweaveError('ERR_ARGUMENT', message)
}

export type JointTable<Name extends string> = Readonly<Record<Name, JointArguments>>

type JointCall = (comms: ArrayLike<Handle>, ...args: readonly unknown[]) => Promise<unknown>

/** Returns one method per call of a table, under the name that ends in `All`. */
export function jointCallsIn<Name extends string>(
  table: JointTable<Name>,
  calls: Readonly<Record<Name, (this: never, ...args: never) => unknown>>,
): Readonly<Record<`${Name}All`, JointCall>> {
  const named = Object.fromEntries(
    Object.entries<JointArguments>(table).map(([name, given]) => {
      const call = calls[name as Name] as (this: unknown, ...args: unknown[]) => unknown
      return [`${name}All`, jointly(name, given, (comm, args) => call.apply(comm, args as unknown[]))]
    }),
  )
  return named as Record<`${Name}All`, JointCall>
}
