import { RankweaveError } from '../../errors.js'
import { type TypedArray, typeCodeOf } from '../../messages/datatype/elements.js'
import type { CollectiveName } from '../collective-name.js'
import { requireRoot } from '../plan/deliver.js'
import {
  type MethodOptions,
  methodOptionNames,
  orderOptionNames,
  requireInitOptions,
} from '../plan/method.js'
import type { PersistentRequest } from '../program/persistent-request.js'
import * as collectives from './collectives.js'
import type { Handle } from './form.js'
import { PersistentForm } from './persistent-form.js'
import { requireArray, requireRoom } from './persistent-moves.js'

// Calls that are bound to their buffers as they are: every start is the call, on what its buffers hold then.
// All of `recv` is passed as `into`, whose length is checked here.

/** `send` only on the root. */
export function scatterInit(
  comm: Handle,
  send: unknown,
  recv: unknown,
  root: number,
  options?: MethodOptions,
): PersistentRequest {
  const name = 'scatterInit'
  const given = checkedOptions(name, options)
  requireRoot(root, comm.size)
  const into = elementsOf(name, recv)
  const agreed = { type: typeCodeOf(into), count: into.length }
  const isRoot = comm.rank === root
  const arrays = isRoot ? [elementsOf(name, send), into] : [into]
  if (isRoot) {
    const blocks = arrays[0]
    requireRoom(name, typeCodeOf(blocks), into.length, into)
    if (blocks.length !== comm.size * into.length) {
      throw new RankweaveError(
        'ERR_COUNT',
        `${name}: expected ${comm.size} blocks of ${into.length} elements, got ${blocks.length} elements`,
      )
    }
  }
  const form = new PersistentForm(name, arrays, agreed)
  return collectives.scatter(form, comm, isRoot ? send : null, root, { ...given, into })
}

/** `send` and `counts` only on the root; `recv` may be longer than the block. */
export function scattervInit(
  comm: Handle,
  send: unknown,
  counts: ArrayLike<number> | null,
  recv: unknown,
  root: number,
  options?: MethodOptions & { readonly displs?: ArrayLike<number> },
): PersistentRequest {
  const name = 'scattervInit'
  const given = checkedOptions(name, options)
  requireRoot(root, comm.size)
  const into = elementsOf(name, recv)
  const isRoot = comm.rank === root
  const arrays = isRoot ? [elementsOf(name, send), into] : [into]
  if (isRoot) requireRoom(name, typeCodeOf(arrays[0]), 0, into)
  const form = new PersistentForm(name, arrays, { type: typeCodeOf(into) })
  return collectives.scatterv(form, comm, isRoot ? send : null, counts, root, { ...given, into })
}

/** Elements that `recv` needs for so many in `send`. */
type Room = (countElems: number, comm: Handle, options: BlockCounts) => number

interface BlockCounts {
  readonly counts?: ArrayLike<number>
}

const asMany: Room = (countElems) => countElems
/** What arrives is known when it does. */
const unknown: Room = () => 0

const roomOf = {
  gatherInit: (countElems, { size }) => size * countElems,
  gathervInit: unknown,
  allgathervInit: unknown,
  alltoallInit: asMany,
  alltoallvInit: unknown,
  reduceInit: asMany,
  // Malformed counts are reported with those of calls.
  reduceScatterInit: (countElems, { rank, size }, { counts }) =>
    counts?.[rank] ?? Math.floor(countElems / size),
  scanInit: asMany,
  exscanInit: asMany,
} satisfies Partial<Record<CollectiveName, Room>>

const method = methodOptionNames
const ordered = orderOptionNames
const placed = { ...method, counts: true, displs: true } as const

/** The options of every call: others would have no effect. */
const optionsOf: Partial<Record<CollectiveName, Readonly<Record<string, unknown>>>> = {
  scatterInit: method,
  scattervInit: { ...method, displs: true },
  gatherInit: method,
  gathervInit: placed,
  allgathervInit: placed,
  alltoallInit: method,
  alltoallvInit: { ...placed, sendDispls: true },
  reduceInit: ordered,
  reduceScatterInit: { ...ordered, counts: true },
  scanInit: ordered,
  exscanInit: ordered,
}

/** @throws ERR_ARGUMENT for options that the call does not have */
function checkedOptions<O extends object>(name: CollectiveName, options: O | undefined): O {
  requireInitOptions(name, options, optionsOf[name]!)
  return { ...options } as O
}

/** The form of a call that is bound to its buffers, and its options, which name the array that it fills. */
export interface BoundCall<O> {
  readonly form: PersistentForm
  readonly options: O & { readonly into?: TypedArray }
}

/**
 * Binds a call that sends one array and fills another.
 *
 * @param recv null where the rank gets nothing
 */
export function boundCall<O extends object>(
  name: keyof typeof roomOf,
  comm: Handle,
  send: unknown,
  recv: unknown,
  options: O | undefined,
): BoundCall<O> {
  const from = elementsOf(name, send)
  const given = checkedOptions(name, options)
  if (recv === null) return { form: new PersistentForm(name, [from]), options: given }
  requireRoom(name, typeCodeOf(from), roomOf[name](from.length, comm, given), recv)
  const into = recv as TypedArray
  return { form: new PersistentForm(name, [from, into]), options: { ...given, into } }
}

/** {@link boundCall} where the root alone fills an array. */
export function boundAtRoot<O extends object>(
  name: 'gatherInit' | 'gathervInit' | 'reduceInit',
  comm: Handle,
  send: unknown,
  recv: unknown,
  root: number,
  options?: O,
): BoundCall<O> {
  requireRoot(root, comm.size)
  return boundCall(name, comm, send, comm.rank === root ? recv : null, options)
}

/** Not of a strided view, which would be packed once instead of at every start. */
function elementsOf(name: CollectiveName, data: unknown): TypedArray {
  requireArray(name, data)
  return data as TypedArray
}
