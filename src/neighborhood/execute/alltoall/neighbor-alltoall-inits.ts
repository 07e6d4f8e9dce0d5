import { requireOptions } from '../../../base/require-options.js'
import type { Handle } from '../../../comm/calls/collectives/form.js'
import { PersistentForm } from '../../../comm/calls/collectives/persistent-form.js'
import type { PersistentRequest } from '../../../comm/calls/program/persistent-request.js'
import type { TypedArray } from '../../../comm/datatype/elements.js'
import { type ReceiveBuffer, StridedView } from '../../../comm/datatype/strided-view.js'
import { boundForm } from '../bound-form.js'
import type { Neighborhood } from '../neighborhood.js'
import { type EdgeBlocksOptions, neighborAlltoall, neighborAlltoallv } from './neighbor-alltoall.js'
import { type EdgeData, neighborAlltoallw } from './neighbor-alltoallw.js'

// Calls that are bound to their buffers: every start is the call, on what its buffers hold then.

export function neighborAlltoallInit(
  comm: Handle,
  neighborhood: Neighborhood,
  send: unknown,
  recv: unknown,
): PersistentRequest {
  const { form, into } = boundForm('neighborAlltoallInit', send, recv)
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
  const { form, into } = boundForm(name, send, recv)
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
