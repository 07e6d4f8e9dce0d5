import { requireOptions } from '../../../base/require-options.js'
import type { CollectiveCall } from '../../../comm/calls/collective-call.js'
import type { Form, Handle } from '../../../comm/calls/collectives/form.js'
import { methodOf, type OrderOptions } from '../../../comm/calls/collectives/plan/method.js'
import type { IntoOptions } from '../../../comm/calls/collectives/plan/options.js'
import { requiredOrder } from '../../../comm/calls/collectives/plan/required-order.js'
import { type Combiner, combinerOf } from '../../../comm/calls/collectives/reduce/combiner.js'
import type { Exchange } from '../../../comm/calls/exchange.js'
import { runProgram } from '../../../comm/calls/program/run-program.js'
import { elementSizeBytes, newArray, type TypedArray } from '../../../comm/datatype/elements.js'
import { type ReadyOperation, readyOperation } from '../../../comm/datatype/operation.js'
import type { ProcessProgram } from '../../../schedule/lower/program.js'
import { checkInto, contributionOf } from '../memory/buffers.js'
import { UniformStore } from '../memory/uniform-store.js'
import { countRun } from '../neighbor-traffic.js'
import type { Neighborhood } from '../neighborhood.js'

/** Options of a neighbor reduction. */
export interface NeighborReduceOptions<I extends TypedArray = TypedArray>
  extends IntoOptions<I>,
    Pick<OrderOptions, 'order'> {}

interface Contribution {
  readonly elements: TypedArray
  readonly into: TypedArray | undefined
}

/** What all ranks of a call agree on. */
interface Call {
  readonly op: ReadyOperation
  readonly type: number
  readonly countElems: number
  /** Whether it may be combined in any order. */
  readonly isAny: boolean
}

/**
 * In list order, unless the operation may be applied in any: then along reversed ways, on which partial results are combined.
 * Sent directly, blocks need no more messages in list order.
 */
export function neighborReduce<R>(
  form: Form<R>,
  comm: Handle,
  neighborhood: Neighborhood,
  data: unknown,
  op: unknown,
  options: NeighborReduceOptions = {},
): R {
  const name = 'neighborReduce'
  return form.attempt(comm, (seat) => {
    requireOptions(name, options)
    const { order, into } = options
    const { type, elements } = contributionOf(name, data)
    const countElems = elements.length
    checkInto(name, into, type, neighborhood.slotsOf(seat.rank) > 0 ? countElems : 0)
    const method = methodOf('reduce', order === undefined ? undefined : { order })
    const ready = readyOperation(op, type, countElems, data)
    const isAny = requiredOrder({ op: ready, type, scalar: null }, method?.isAnyOrder === true) === 'any'
    const agreed: Call = { op: ready, type, countElems, isAny }
    const call: CollectiveCall<Contribution, TypedArray | null> = {
      signature: {
        name,
        type,
        count: countElems,
        op: ready.name,
        ...(method === undefined ? {} : { method: method.name }),
      },
      unplaced: neighborhood.isLocated,
      run: (contributions, exchange) => reduceBlocks(neighborhood, agreed, contributions, exchange),
    }
    return form.join(seat, call, { elements, into }, options)
  })
}

function reduceBlocks(
  neighborhood: Neighborhood,
  { op, type, countElems, isAny }: Call,
  contributions: readonly Contribution[],
  exchange: Exchange,
): undefined {
  const { traffic } = neighborhood
  const chosen = neighborhood.forBlocks(countElems * elementSizeBytes(type))
  const isCombined = isAny && chosen.strategy.kind !== 'direct'
  const { program } = chosen.operation(isCombined ? 'neighbor-reduce-any' : 'neighbor-reduce')
  const store = new CombiningStore(program, type, countElems, op)
  for (const [value, { elements }] of contributions.entries()) {
    ;(store.elements as Float64Array).set(elements as Float64Array, value * countElems)
  }
  runProgram(program, exchange, store, () => {
    countRun(traffic, program.counts)
    const results: (TypedArray | null)[] = new Array(contributions.length).fill(null)
    const { fillStart, fillRank } = program
    for (let value = 0; value + 1 < fillStart.length; value++) {
      for (let f = fillStart[value]; f < fillStart[value + 1]; f++) {
        const rank = fillRank[f]
        const result = contributions[rank].into ?? newArray(type, countElems)
        ;(result as Float64Array).set(store.view(value) as Float64Array)
        results[rank] = result
      }
    }
    exchange.finish(results)
  })
  return undefined
}

/** Values of one length, combined as the program says. */
class CombiningStore extends UniformStore {
  readonly #combine: ProcessProgram['combine']
  readonly #countElems: number
  readonly #op: ReadyOperation
  readonly #combiner: Combiner<unknown>

  constructor(program: ProcessProgram, type: number, countElems: number, op: ReadyOperation) {
    super(program, type, elementSizeBytes(type), countElems)
    this.#combine = program.combine
    this.#countElems = countElems
    this.#op = op
    this.#combiner = combinerOf(op, type, countElems)
  }

  view(value: number): TypedArray {
    return this.elements.subarray(value * this.#countElems, (value + 1) * this.#countElems)
  }

  override combine(combination: number): void {
    const { firstValue, left, right } = this.#combine
    const out = this.view(firstValue + combination)
    const [a, b] = [this.view(left[combination]), this.view(right[combination])]
    if (this.#op.kind === 'kernel') this.#op.kernel(out, a, b)
    else (out as Float64Array).set(this.#combiner.combine(a, false, b, false) as Float64Array)
  }
}
