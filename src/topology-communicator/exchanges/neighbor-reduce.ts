import type { OptionTable } from '../../base/option.js'
import { checkOptions } from '../../base/option-table.js'
import { whenThere } from '../../base/turn.js'
import type { Form, Handle } from '../../calls/collectives/form.js'
import { type IntoOptions, intoOptions } from '../../calls/collectives/options.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import type { CollectiveCall } from '../../calls/matching/collective-call.js'
import { methodOf, type OrderOptions, orderOptionNames, requiredOrder } from '../../calls/plan/method.js'
import { programStart } from '../../calls/program/bound-collective.js'
import type { PersistentRequest } from '../../calls/program/persistent-request.js'
import { boundRequest } from '../../calls/program/persistent-request.js'
import type { CollectiveName, Signature } from '../../calls/signature.js'
import { type Combiner, combinerOf } from '../../calls/values/combiner.js'
import { elementSizeBytes, newArray, type TypedArray } from '../../messages/datatype/elements.js'
import { type ReadyOperation, readyOperation } from '../../messages/datatype/operation.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { chosenNeighborhood } from '../execute/chosen.js'
import { countRun } from '../execute/neighbor-traffic.js'
import type { NeighborHandle, Neighborhood } from '../execute/neighborhood.js'
import type { OperationProgram } from '../execute/placement.js'
import { boundElements, checkInto, contributionOf } from '../memory/buffers.js'
import { SpareRun, UniformStore } from '../memory/uniform-store.js'

/** Values of one length, combined by the operation of the run as the program prescribes. */
class CombiningStore extends UniformStore {
  readonly #combine: ProcessProgram['combine']
  readonly #type: number
  /** Views of values that have been combined or delivered, so that later runs allocate none. */
  readonly #views: TypedArray[]
  #op: ReadyOperation | undefined
  #combiner: Combiner<unknown> | undefined

  constructor(program: ProcessProgram, type: number, countElems: number) {
    super(program, type, elementSizeBytes(type), countElems)
    this.#combine = program.combine
    this.#type = type
    this.#views = new Array(program.valueTerm.length)
  }

  bind(op: ReadyOperation): void {
    if (op === this.#op) return
    this.#op = op
    this.#combiner = op.kind === 'kernel' ? undefined : combinerOf(op, this.#type, this.countElems)
  }

  view(value: number): TypedArray {
    const { countElems } = this
    this.#views[value] ??= this.elements.subarray(value * countElems, (value + 1) * countElems)
    return this.#views[value]
  }

  override combine(combination: number): void {
    const { firstValue, left, right } = this.#combine
    const op = this.#op!
    const out = this.view(firstValue + combination)
    const [a, b] = [this.view(left[combination]), this.view(right[combination])]
    if (op.kind === 'kernel') op.kernel(out, a, b)
    else (out as Float64Array).set(this.#combiner!.combine(a, false, b, false) as Float64Array)
  }
}

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
  comm: Handle,
  neighborhood: Neighborhood,
  data: unknown,
  op: unknown,
  options?: NeighborReduceOptions,
): R {
  const name = 'neighborReduce'
  return form.attempt(comm, name, reduceOptions, options, (seat) => {
    const { rank } = seat
    const { agreed, given } = checked(name, neighborhood, rank, data, op, options?.order, options?.into)
    const call: CollectiveCall<Contribution, TypedArray | null> = {
      signature: agreed.signature,
      unplaced: neighborhood.isLocated,
      run(contributions, exchange) {
        const start = (by: Neighborhood) => reduceBlocks(by, agreed, contributions, exchange)
        return whenThere(chosenReduce(neighborhood, agreed), start)
      },
    }
    return form.join(seat, call, given, options)
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
  const { signature, type, countElems } = agreed
  const call = { signature, unplaced: neighborhood.isLocated }
  return boundRequest(seat, call, [elements, into], given, async (all) => {
    const { program } = operationOf(await chosenReduce(neighborhood, agreed), agreed)
    const store = new CombiningStore(program, type, countElems)
    store.bind(agreed.op)
    const { traffic } = neighborhood
    return programStart(signature, {
      program,
      store,
      fill: () => contribute(store, all),
      deliver() {
        countRun(traffic, program.counts)
        deliver(program, store, (rank) => all[rank].into!)
      },
    })
  })
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

/**
 * Chooses a neighborhood. A reduction in list order moves blocks as an allgather does; in any order it combines them on
 * their way.
 */
function chosenReduce(neighborhood: Neighborhood, { type, countElems, isAny }: Agreed) {
  const bytes = countElems * elementSizeBytes(type)
  return chosenNeighborhood(neighborhood, bytes, isAny ? 'neighbor-reduce-any' : 'neighbor-allgather')
}

function operationOf(chosen: Neighborhood, { isAny }: Agreed): OperationProgram {
  const isCombined = isAny && chosen.strategy.kind !== 'direct'
  return chosen.operation(isCombined ? 'neighbor-reduce-any' : 'neighbor-reduce')
}

const spares = new WeakMap<OperationProgram, SpareRun<CombiningStore>>()

function reduceBlocks(
  neighborhood: Neighborhood,
  agreed: Agreed,
  contributions: readonly Contribution[],
  exchange: Exchange,
): undefined {
  const { op, type, countElems } = agreed
  const operation = operationOf(neighborhood, agreed)
  const { program } = operation
  const spare = spares.get(operation) ?? new SpareRun<CombiningStore>()
  spares.set(operation, spare)
  const newStore = () => new CombiningStore(program, type, countElems)
  const memory = spare.take(program, type, countElems, newStore)
  const { store } = memory
  store.bind(op)
  contribute(store, contributions)
  memory.run.start(exchange, store, () => {
    countRun(neighborhood.traffic, program.counts)
    const results: (TypedArray | null)[] = new Array(contributions.length).fill(null)
    deliver(program, store, (rank) => {
      const result = contributions[rank].into ?? newArray(type, countElems)
      results[rank] = result
      return result
    })
    spare.put(memory, exchange)
    exchange.finish(results)
  })
  return undefined
}

function contribute({ elements, countElems }: CombiningStore, contributions: readonly Contribution[]): void {
  for (let value = 0; value < contributions.length; value++) {
    ;(elements as Float64Array).set(contributions[value].elements as Float64Array, value * countElems)
  }
}

/** @param resultOf returns the buffer of a hosted rank that has sources */
function deliver(
  { fillStart, fillRank }: ProcessProgram,
  store: CombiningStore,
  resultOf: (rank: number) => TypedArray,
): void {
  for (let value = 0; value + 1 < fillStart.length; value++) {
    for (let f = fillStart[value]; f < fillStart[value + 1]; f++) {
      ;(resultOf(fillRank[f]) as Float64Array).set(store.view(value) as Float64Array)
    }
  }
}
