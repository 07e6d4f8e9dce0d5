import type { OptionTable } from '../../base/option.js'
import { checkOptions } from '../../base/option-table.js'
import type { Form } from '../../calls/collectives/collectives.js'
import { type IntoOptions, intoOptions } from '../../calls/collectives/options.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import type { CollectiveHandle } from '../../calls/plan/collective-plan.js'
import { methodOf, type OrderOptions, orderOptionNames, requiredOrder } from '../../calls/plan/method.js'
import {
  type BoundProgram,
  type PersistentRequest,
  plannedRequest,
} from '../../calls/program/planned-call.js'
import type { CollectiveName, Signature } from '../../calls/signature.js'
import { UniformStore } from '../../calls/values/uniform-store.js'
import { elementSizeBytes, newArray, type TypedArray } from '../../messages/datatype/elements.js'
import { type ReadyOperation, readyOperation } from '../../messages/datatype/operation.js'
import { chosenNeighborhood, type NeighborHandle, type Neighborhood } from '../plan/neighborhood.js'
import { boundElements, checkInto, contributionOf, NeighborCall } from './neighbor-call.js'

/** Options of a neighbor reduction. */
export interface NeighborReduceOptions<I extends TypedArray = TypedArray>
  extends IntoOptions<I>,
    Pick<OrderOptions, 'order'> {}

const { order } = orderOptionNames
const reduceOptions: OptionTable<NeighborReduceOptions> = { ...intoOptions, order }

interface Contribution {
  readonly elements: TypedArray
  readonly into: TypedArray | undefined
}

/** The arguments on which all ranks of a call agree. */
interface Agreed {
  readonly signature: Signature
  readonly op: ReadyOperation
  readonly type: number
  readonly countElems: number
  /** Whether the operation may combine in any order. */
  readonly isAny: boolean
}

/**
 * Reduces in list order, unless the operation may be applied in any order. Then partial results are combined along
 * reversed ways. Direct sends need no more messages in list order.
 */
export function neighborReduce<R>(
  form: Form<R>,
  comm: CollectiveHandle,
  neighborhood: Neighborhood,
  data: unknown,
  op: unknown,
  options?: NeighborReduceOptions,
): R {
  const name = 'neighborReduce'
  return form.attempt(comm, name, reduceOptions, options, (seat) => {
    const { order, into } = options ?? {}
    const { agreed, given } = checked(name, neighborhood, seat.rank, data, op, order, into)
    return form.join(seat, new NeighborReduce(neighborhood, agreed), given, options)
  })
}

export function neighborReduceInit(
  comm: NeighborHandle,
  send: unknown,
  recv: unknown,
  op: unknown,
  options: Pick<NeighborReduceOptions, 'order'> = {},
): PersistentRequest {
  const { neighborhood } = comm
  const seat = comm.seat()
  const name = 'neighborReduceInit'
  checkOptions(name, { order }, options)
  const { elements, into } = boundElements(name, send, recv)
  const { agreed, given } = checked(name, neighborhood, seat.rank, elements, op, options.order, into)
  return plannedRequest(seat, new NeighborReduce(neighborhood, agreed), [elements, into], given)
}

/** @throws ERR_TYPE, ERR_TYPE_MISMATCH, ERR_TRUNCATE, ERR_OP, ERR_ARGUMENT */
function checked(
  name: CollectiveName,
  neighborhood: Neighborhood,
  rank: number,
  data: unknown,
  op: unknown,
  order: OrderOptions['order'],
  into: TypedArray | undefined,
): { readonly agreed: Agreed; readonly given: Contribution } {
  const { type, elements } = contributionOf(name, data)
  const countElems = elements.length
  checkInto(name, into, type, neighborhood.slotsOf(rank) > 0 ? countElems : 0)
  const method = methodOf('reduce', order === undefined ? undefined : { order })
  const ready = readyOperation(op, type, countElems, data)
  const isAny = requiredOrder({ op: ready, type, scalar: null }, method?.isAnyOrder === true) === 'any'
  const signature: Signature = {
    name,
    type,
    count: countElems,
    op: ready.name,
    ...(method === undefined ? {} : { method: method.name }),
  }
  return { agreed: { signature, op: ready, type, countElems, isAny }, given: { elements, into } }
}

class NeighborReduce extends NeighborCall<Contribution> {
  readonly #agreed: Agreed

  constructor(neighborhood: Neighborhood, agreed: Agreed) {
    super(agreed.signature, neighborhood)
    this.#agreed = agreed
  }

  /** A reduction in list order moves blocks as an allgather does; in any order it combines them on their way. */
  override chosen(): Neighborhood | Promise<Neighborhood> {
    const { type, countElems, isAny } = this.#agreed
    const bytes = countElems * elementSizeBytes(type)
    return chosenNeighborhood(this.neighborhood, bytes, isAny ? 'neighbor-reduce-any' : 'neighbor-allgather')
  }

  override bindTo(by: Neighborhood, all: readonly Contribution[], init?: Exchange): BoundProgram {
    const { op, type, countElems, isAny } = this.#agreed
    const isCombined = isAny && by.strategy.kind !== 'direct'
    const plan = by.operation(isCombined ? 'neighbor-reduce-any' : 'neighbor-reduce')
    const isReused = init === undefined
    const store = isReused
      ? plan.takeStore(type, countElems)
      : new UniformStore(plan.program, type, countElems)
    store.bind(op)
    return {
      plan,
      store,
      isReusable: isReused && store.isReusable,
      fill() {
        const own = store.elements as Float64Array
        for (let i = 0; i < all.length; i++) own.set(all[i].elements as Float64Array, i * countElems)
      },
      deliver() {
        const { fillStart, fillRank } = plan.program
        const results: (TypedArray | null)[] = new Array(all.length).fill(null)
        for (let value = 0; value + 1 < fillStart.length; value++) {
          for (let f = fillStart[value]; f < fillStart[value + 1]; f++) {
            const rank = fillRank[f]
            const result = all[rank].into ?? newArray(type, countElems)
            ;(result as Float64Array).set(store.view(value) as Float64Array)
            results[rank] = result
          }
        }
        return results
      },
    }
  }
}
