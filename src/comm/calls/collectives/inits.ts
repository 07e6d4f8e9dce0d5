import { RankweaveError } from '../../../errors.js'
import { type TypedArray, typeCodeOf } from '../../datatype/elements.js'
import type { CollectiveName } from '../collective-name.js'
import type { PersistentRequest } from '../program/persistent-request.js'
import { requireRoot } from './blocks/deliver.js'
import * as collectives from './collectives.js'
import type { Handle } from './form.js'
import { requireArray, requireRoom } from './persistent/persistent-moves.js'
import { PersistentForm } from './persistent-form.js'
import type { MethodOptions, OrderOptions } from './plan/method.js'

// Calls that are bound to their buffers as they are: every start is the call, on what its buffers hold then. All of `recv` is
// passed as `into`, whose length is checked here.

/** `send` only on the root. */
export function scatterInit(
  comm: Handle,
  send: unknown,
  recv: unknown,
  root: number,
  options?: MethodOptions,
): PersistentRequest {
  const name = 'scatterInit'
  requireRoot(root, comm.size)
  const into = elementsOf(name, recv)
  const agreed = { type: typeCodeOf(into), count: into.length }
  const isRoot = comm.rank === root
  const arrays = isRoot ? [elementsOf(name, send), into] : [into]
  if (isRoot) {
    const blocks = arrays[0]!
    requireRoom(name, typeCodeOf(blocks), into.length, into)
    if (blocks.length !== comm.size * into.length) {
      throw new RankweaveError(
        'ERR_COUNT',
        `${name}: expected ${comm.size} blocks of ${into.length} elements, got ${blocks.length} elements`,
      )
    }
  }
  const form = new PersistentForm(name, arrays, agreed)
  return collectives.scatter(form, comm, isRoot ? send : null, root, { ...options, into })
}

/** `recv` only on the root. */
export function gatherInit(
  comm: Handle,
  send: unknown,
  recv: unknown,
  root: number,
  options?: MethodOptions,
): PersistentRequest {
  requireRoot(root, comm.size)
  const bound = boundOf('gatherInit', send, comm.rank === root ? recv : null, (count) => comm.size * count)
  return collectives.gather(bound.form, comm, send, root, { ...options, ...bound.into })
}

export function alltoallInit(
  comm: Handle,
  send: unknown,
  recv: unknown,
  options?: MethodOptions,
): PersistentRequest {
  const bound = boundOf('alltoallInit', send, recv, (count) => count)
  return collectives.alltoall(bound.form, comm, send, { ...options, ...bound.into })
}

/** `recv` only on the root. */
export function reduceInit(
  comm: Handle,
  send: unknown,
  recv: unknown,
  op: unknown,
  root: number,
  options?: OrderOptions,
): PersistentRequest {
  requireRoot(root, comm.size)
  const bound = boundOf('reduceInit', send, comm.rank === root ? recv : null, (count) => count)
  return collectives.reduce(bound.form, comm, send, op, root, { ...options, ...bound.into })
}

export function reduceScatterInit(
  comm: Handle,
  send: unknown,
  recv: unknown,
  op: unknown,
  options?: OrderOptions & { readonly counts?: ArrayLike<number> },
): PersistentRequest {
  // Malformed counts are reported with those of calls.
  const room = (count: number) => options?.counts?.[comm.rank] ?? Math.floor(count / comm.size)
  const bound = boundOf('reduceScatterInit', send, recv, room)
  return collectives.reduceScatter(bound.form, comm, send, op, { ...options, ...bound.into })
}

export function scanInit(
  comm: Handle,
  send: unknown,
  recv: unknown,
  op: unknown,
  options?: OrderOptions,
): PersistentRequest {
  const bound = boundOf('scanInit', send, recv, (count) => count)
  return collectives.scan(bound.form, comm, send, op, { ...options, ...bound.into })
}

export function exscanInit(
  comm: Handle,
  send: unknown,
  recv: unknown,
  op: unknown,
  options?: OrderOptions,
): PersistentRequest {
  const bound = boundOf('exscanInit', send, recv, (count) => count)
  return collectives.exscan(bound.form, comm, send, op, { ...options, ...bound.into })
}

/**
 * The form of a call that sends one array and fills another, and the option that names the latter.
 *
 * @param recv null where the rank gets nothing
 * @param room elements that `recv` needs for so many in `send`
 */
function boundOf(
  name: CollectiveName,
  send: unknown,
  recv: unknown,
  room: (countElems: number) => number,
): { readonly form: PersistentForm; readonly into: { readonly into?: TypedArray } } {
  const from = elementsOf(name, send)
  if (recv === null) return { form: new PersistentForm(name, [from]), into: {} }
  requireRoom(name, typeCodeOf(from), room(from.length), recv)
  const to = recv as TypedArray
  return { form: new PersistentForm(name, [from, to]), into: { into: to } }
}

/** Not of a strided view, which would be packed once instead of at every start. */
function elementsOf(name: CollectiveName, data: unknown): TypedArray {
  requireArray(name, data)
  return data as TypedArray
}
