import { requireOptions } from '../../base/require-options.js'
import type { CollectiveName } from '../../comm/calls/collective-name.js'
import type { Handle } from '../../comm/calls/collectives/form.js'
import { requireArray } from '../../comm/calls/collectives/persistent/persistent-moves.js'
import { PersistentForm } from '../../comm/calls/collectives/persistent-form.js'
import type { PersistentRequest } from '../../comm/calls/program/persistent-request.js'
import type { TypedArray } from '../../comm/datatype/elements.js'
import { type ReceiveBuffer, StridedView } from '../../comm/datatype/strided-view.js'
import type { EdgeBlocksOptions } from './neighbor-alltoall.js'
import { neighborAlltoall, neighborAlltoallv } from './neighbor-alltoall.js'
import { type EdgeData, neighborAlltoallw } from './neighbor-alltoallw.js'
import { type NeighborReduceOptions, neighborReduce } from './neighbor-reduce.js'
import type { Neighborhood } from './neighborhood.js'

// Calls that are bound to their buffers: every start is the call, on what its buffers hold then.

export function neighborAlltoallInit(
  comm: Handle,
  neighborhood: Neighborhood,
  send: unknown,
  recv: unknown,
): PersistentRequest {
  const { form, into } = boundOf('neighborAlltoallInit', send, recv)
  return neighborAlltoall(form, comm, neighborhood, send, { into })
}

export function neighborAlltoallvInit(
  comm: Handle,
  neighborhood: Neighborhood,
  send: unknown,
  sendCounts: ArrayLike<number>,
  recv: unknown,
  options: Omit<EdgeBlocksOptions, 'into'> = {},
): PersistentRequest {
  const name = 'neighborAlltoallvInit'
  requireOptions(name, options)
  const { form, into } = boundOf(name, send, recv)
  return neighborAlltoallv(form, comm, neighborhood, send, sendCounts, { ...options, into })
}

export function neighborAlltoallwInit(
  comm: Handle,
  neighborhood: Neighborhood,
  send: readonly EdgeData[],
  recv: readonly (ReceiveBuffer | null)[],
): PersistentRequest {
  const lists = [send, recv].map((list) => (Array.isArray(list) ? list : []))
  const arrays = lists
    .flat()
    .map((each: unknown) => (each instanceof StridedView ? each.array : each))
    .filter((each): each is TypedArray => ArrayBuffer.isView(each) && !(each instanceof DataView))
  const form = new PersistentForm('neighborAlltoallwInit', arrays)
  return neighborAlltoallw(form, comm, neighborhood, send, { into: recv })
}

export function neighborReduceInit(
  comm: Handle,
  neighborhood: Neighborhood,
  send: unknown,
  recv: unknown,
  op: unknown,
  options: Pick<NeighborReduceOptions, 'order'> = {},
): PersistentRequest {
  const name = 'neighborReduceInit'
  requireOptions(name, options)
  const { form, into } = boundOf(name, send, recv)
  return neighborReduce(form, comm, neighborhood, send, op, { ...options, into })
}

/** Not strided views, which would be packed once instead of at every start. */
function boundOf(
  name: CollectiveName,
  send: unknown,
  recv: unknown,
): { readonly form: PersistentForm; readonly into: TypedArray } {
  requireArray(name, send)
  requireArray(name, recv)
  const into = recv as TypedArray
  return { form: new PersistentForm(name, [send as TypedArray, into]), into }
}
