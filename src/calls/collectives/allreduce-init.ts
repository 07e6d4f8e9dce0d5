import { overlap } from '../../base/bytes.js'
import { newArray, type TypedArray } from '../../messages/datatype/elements.js'
import type { Seat } from '../../messages/process/comm-context.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import type { CollectivePlan } from '../plan/collective-plan.js'
import {
  type Method,
  methodOf,
  type OrderOptions,
  orderOptionNames,
  requireInitOptions,
} from '../plan/method.js'
import type { PersistentRequest } from '../program/persistent-request.js'
import { requireArray, requireRoom } from './persistent-moves.js'
import { planReduction } from './planned-reduction.js'
import { type Reduction, reductionOf, signatureOf } from './reduction.js'
import { ReductionRun } from './reduction-run.js'
import { requestOf } from './request-of.js'

/** @throws ERR_TYPE, ERR_TYPE_MISMATCH, ERR_TRUNCATE, ERR_OP, ERR_ARGUMENT, ERR_ALGORITHM */
export function allreduceInit(
  seat: Seat<CollectiveContext>,
  send: TypedArray,
  recv: TypedArray,
  op: unknown,
  options?: OrderOptions,
): PersistentRequest {
  const { state } = seat
  requireInitOptions('allreduceInit', options, orderOptionNames)
  const type = requireArray('allreduceInit', send)
  requireRoom('allreduceInit', type, send.length, recv)
  const { reduction } = reductionOf('allreduceInit', send, op, { into: recv })
  const method = methodOf('allreduce', options)
  const signature = signatureOf(reduction, method && { method: method.name })
  if (state.isPlaced) planOf(state, reduction, method)
  const given = { send, recv: recv.subarray(0, send.length) }
  return requestOf(seat, signature, [send, recv], given, (buffers) => {
    const plan = planOf(state, reduction, method)
    const run = new ReductionRun(plan, reduction)
    const result = buffers[0].recv as TypedArray
    // Contributions are sent from where they are unless results are written there.
    const isSent = buffers.length === 1 && !overlap(send, recv)
    const own = isSent ? [send] : Array.from(plan.participants.own, () => newArray(type, send.length))
    const store = run.newStore(false)
    const leaves = { values: buffers.map((each) => each.send), owned: false }
    return {
      plan,
      store,
      fill() {
        if (!isSent) {
          run.folded(leaves).values.forEach((value, i) => {
            ;(own[i] as Float64Array).set(value as Float64Array)
          })
        }
        store.bind(own, result)
      },
      deliver() {
        store.finish()
        for (let i = 1; i < buffers.length; i++) (buffers[i].recv as Float64Array).set(result as Float64Array)
      },
    }
  })
}

/** Of a communicator whose ranks are placed, so that nothing is looked up. */
function planOf(state: CollectiveContext, reduction: Reduction, method: Method | undefined): CollectivePlan {
  return planReduction(state, 'allreduce', reduction, method) as CollectivePlan
}
