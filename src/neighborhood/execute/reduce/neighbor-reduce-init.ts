import { requireOptions } from '../../../base/require-options.js'
import type { Handle } from '../../../comm/calls/collectives/form.js'
import type { PersistentRequest } from '../../../comm/calls/program/persistent-request.js'
import { boundForm } from '../bound-form.js'
import type { Neighborhood } from '../neighborhood.js'
import { type NeighborReduceOptions, neighborReduce } from './neighbor-reduce.js'

/** Every start is the call, on what its buffers hold then. */
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
  const { form, into } = boundForm(name, send, recv)
  return neighborReduce(form, comm, neighborhood, send, op, { ...options, into })
}
