import type { WaitOptions } from '../../base/abort.js'
import { requireKnownOptions } from '../../base/known-options.js'
import type { OptionTable } from '../../base/option.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { requireFixed, typeCode } from '../../messages/datatype/elements.js'
import { StridedView } from '../../messages/datatype/strided-view.js'
import { type OperationOwner, Pending } from '../../messages/mailboxes/pending-operation.js'
import { Request } from '../../messages/p2p/request.js'
import type { Seat } from '../../messages/process/comm-context.js'
import { gathered } from '../matching/collective-engine.js'
import type { CollectiveContext, CollectiveHandle } from '../plan/collective-plan.js'
import { methodOf } from '../plan/method.js'
import type { PlannedCall } from '../program/planned-call.js'
import {
  blockOf,
  copyIfAliased,
  countedBlocks,
  countsOf,
  equalBlocks,
  intoOf,
  type Layout,
  layoutOf,
  requireElements,
  requireRoot,
} from '../values/deliver.js'
import { type AlltoallContribution, alltoallCall } from './alltoall.js'
import { barrierOf } from './barrier.js'
import { type BcastContribution, bcastCall } from './bcast.js'
import { gatherCall } from './gather.js'
import {
  type BlocksOptions,
  callOptions,
  type MovementOptions,
  type ReductionOptions,
  type ValueOptions,
} from './options.js'
import { AllreduceCall, ReduceCall } from './reduce.js'
import { ReduceScatterCall } from './reduce-scatter.js'
import { intoFor, ReductionCall, type ReductionName, reductionOf } from './reduction.js'
import { ScanCall } from './scan.js'
import { type ScatterContribution, scatterCall } from './scatter.js'
import { repeated } from './together.js'

/** A form of a collective (MPI-4.1 §6.12, §6.13): it decides what happens to a call whose arguments are valid. */
export interface Form<R> {
  /** Whether the call may be that of an earlier collective; false if it is retained. */
  readonly mayReuse: boolean
  /**
   * Refuses options that the call does not have, checks the arguments and continues with {@link join}. Decides how an
   * error is reported.
   */
  attempt(
    comm: CollectiveHandle,
    name: string,
    known: OptionTable<WaitOptions>,
    options: WaitOptions | undefined,
    start: (seat: Seat<CollectiveContext>) => R,
  ): R
  /**
   * Returns `part`, or a copy of it if the rank's result would overwrite its bytes while other ranks here still read
   * them.
   */
  unaliased<P extends { readonly bytes: Uint8Array }>(into: unknown, part: P): P
  join<C>(
    seat: Seat<CollectiveContext>,
    call: PlannedCall<C>,
    contribution: C,
    options: WaitOptions | undefined,
  ): R
}

/**
 * The blocking form: the rank joins at once and waits for its result. A method that returns a promise never throws. A
 * form knows no type of result; `never` fits what each method declares.
 */
export const blocking: Form<Promise<never>> = {
  mayReuse: true,
  attempt(comm, name, known, options, start) {
    try {
      const seat = comm.seat()
      if (options !== undefined) requireKnownOptions(name, options, known)
      return start(seat)
    } catch (error) {
      return Promise.reject(error)
    }
  },
  unaliased: copyIfAliased,
  join({ state, localIndex }, call, contribution, options) {
    return state.collectives.call(localIndex, call, contribution, options) as Promise<never>
  },
}

/** The non-blocking form: the rank joins and continues, and may wait for the request later (MPI-4.1 §6.12). */
export const started: Form<Request<never>> = {
  mayReuse: true,
  attempt(comm, name, known, options, start) {
    const seat = comm.seat()
    if (options !== undefined) requireKnownOptions(`i${name}`, options, known)
    return start(seat)
  },
  unaliased: copyIfAliased,
  join({ state, localIndex, rank }, call, contribution, options) {
    const name = `i${call.signature.name}`
    // Joining may revoke the communicator, which the request reports.
    const owner = state.matching.mailbox(rank)
    const outcome = state.collectives.call(localIndex, call, contribution, options, false) as Promise<never>
    return new Request(new StartedCollective(owner, name, outcome, options?.signal !== undefined))
  },
}

class StartedCollective<T> extends Pending<T> {
  readonly call: string
  readonly #hasSignal: boolean

  /** @param outcome rejects with a RankweaveError, as all that the library rejects */
  constructor(owner: OperationOwner, call: string, outcome: Promise<T>, hasSignal: boolean) {
    super(owner)
    this.call = call
    this.#hasSignal = hasSignal
    outcome.then(
      (value) => this.fulfill(value),
      (error) => this.reject(error as RankweaveError),
    )
  }

  /** Whether the collective was started with a signal, which revokes the communicator. */
  override get hasSignal(): boolean {
    return this.#hasSignal
  }

  override cancel(): void {
    const message = `cancel: ${this.call} is a collective, which no rank can take back alone; abort the signal that it was started with`
    throw new RankweaveError('ERR_REQUEST', message)
  }

  protected withdraw(): void {}
}

// The methods of a communicator run these functions before a rank joins the collective, in every form. A rank with
// invalid arguments fails here, without joining.

export function barrier<R>(form: Form<R>, comm: CollectiveHandle, options?: ValueOptions): R {
  if (repeated !== undefined && form === blocking && options === undefined && repeated.takeBarrier(comm))
    return gathered as R
  return startBarrier(form, comm, options)
}

// The functions that start calls are apart from those that repeat them, which would otherwise allocate the variables
// that their closures capture.

function startBarrier<R>(form: Form<R>, comm: CollectiveHandle, options?: ValueOptions): R {
  return form.attempt(comm, 'barrier', callOptions.barrier, options, (seat) => {
    const { state } = seat
    return form.join(seat, barrierOf(state, methodOf('barrier', options, state)), undefined, options)
  })
}

export function bcast<R>(
  form: Form<R>,
  comm: CollectiveHandle,
  data: unknown,
  root: number,
  options?: MovementOptions,
): R {
  return form.attempt(comm, 'bcast', callOptions.bcast, options, (seat) => {
    const { state, rank } = seat
    requireRoot(root, state.size)
    const into = intoOf(options)
    let contribution: BcastContribution | undefined = into === undefined ? undefined : { into }
    if (rank === root) contribution = { data, block: blockOf('bcast', data) }
    const call = bcastCall(state, root, methodOf('bcast', options, state))
    return form.join(seat, call, contribution, options)
  })
}

export function reduce<R>(
  form: Form<R>,
  comm: CollectiveHandle,
  data: unknown,
  op: unknown,
  root: number,
  options?: ReductionOptions,
): R {
  return form.attempt(comm, 'reduce', callOptions.reduce, options, (seat) => {
    const { state, rank } = seat
    requireRoot(root, state.size)
    const received = rank === root ? options : undefined
    const again = joinAgain(form, seat, 'reduce', root, data, op, options, received)
    if (again !== undefined) return again
    const { reduction, contribution } = reductionOf('reduce', data, op, received)
    const call = new ReduceCall(state, reduction, root, methodOf('reduce', options, state)).check()
    return form.join(seat, call, contribution, options)
  })
}

export function allreduce<R>(
  form: Form<R>,
  comm: CollectiveHandle,
  data: unknown,
  op: unknown,
  options?: ReductionOptions,
): R {
  if (repeated !== undefined && form === blocking && repeated.takeAllreduce(comm, data, op, options))
    return gathered as R
  return startAllreduce(form, comm, data, op, options)
}

function startAllreduce<R>(
  form: Form<R>,
  comm: CollectiveHandle,
  data: unknown,
  op: unknown,
  options?: ReductionOptions,
): R {
  return form.attempt(comm, 'allreduce', callOptions.allreduce, options, (seat) => {
    const again = joinAgain(form, seat, 'allreduce', undefined, data, op, options, options)
    if (again !== undefined) return again
    const { state } = seat
    const { reduction, contribution } = reductionOf('allreduce', data, op, options)
    const call = new AllreduceCall(state, reduction, methodOf('allreduce', options, state)).check()
    return form.join(seat, call, contribution, options)
  })
}

/** Starts a scatter or, with `counts`, a scatterv. */
export function scatter<R>(
  form: Form<R>,
  comm: CollectiveHandle,
  name: 'scatter' | 'scatterv',
  data: unknown,
  counts: ArrayLike<number> | null,
  root: number,
  options?: MovementOptions & { readonly displs?: ArrayLike<number> },
): R {
  return form.attempt(comm, name, callOptions[name], options, (seat) => {
    const { state, rank } = seat
    requireRoot(root, state.size)
    const into = intoOf(options)
    let contribution: ScatterContribution | undefined = into === undefined ? undefined : { into }
    if (rank === root) {
      const blocks =
        name === 'scatter'
          ? equalBlocks(name, data, state.size)
          : countedBlocks(name, '', data, counts ?? [], options?.displs, state.size)
      contribution = { sendBlocks: form.unaliased(into, blocks), into }
    }
    const call = scatterCall(state, name, root, methodOf('scatter', options, state))
    return form.join(seat, call, contribution, options)
  })
}

/** Starts an alltoall or, with `sendCounts`, an alltoallv. */
export function alltoall<R>(
  form: Form<R>,
  comm: CollectiveHandle,
  name: 'alltoall' | 'alltoallv',
  data: unknown,
  sendCounts: ArrayLike<number> | null,
  options?: BlocksOptions & { readonly sendDispls?: ArrayLike<number> },
): R {
  return form.attempt(comm, name, callOptions[name], options, (seat) => {
    const { state } = seat
    const layout = arrayLayout(name, options, state.size)
    const blocks =
      name === 'alltoall'
        ? equalBlocks(name, data, state.size)
        : countedBlocks(name, 'send', data, sendCounts!, options?.sendDispls, state.size)
    const sendBlocks = form.unaliased(layout.into, blocks)
    const contribution: AlltoallContribution = { sendBlocks, layout }
    const call = alltoallCall(state, name, sendBlocks, methodOf('alltoall', options, state))
    return form.join(seat, call, contribution, options)
  })
}

export function reduceScatter<R>(
  form: Form<R>,
  comm: CollectiveHandle,
  data: unknown,
  op: unknown,
  options?: ReductionOptions & { readonly counts?: ArrayLike<number> },
): R {
  return form.attempt(comm, 'reduceScatter', callOptions.reduceScatter, options, (seat) => {
    const { state } = seat
    const again = joinAgain(form, seat, 'reduceScatter', undefined, data, op, options, options)
    if (again !== undefined) return again
    const { reduction, contribution } = reductionOf('reduceScatter', data, op, options)
    requireElements('reduceScatter', reduction.scalar === null ? reduction.type : typeCode.value)
    const counts = blockCounts(reduction.countElems, state.size, options?.counts)
    const method = methodOf('reduce-scatter', options, state)
    const isEqual = options?.counts === undefined
    const call = new ReduceScatterCall(state, reduction, counts, isEqual, method).check()
    return form.join(seat, call, contribution, options)
  })
}

/**
 * Joins with the reduction that was opened last, or returns undefined if this rank makes another one. It takes its
 * arguments one by one, because most calls end here, and an object or function for each rank would cost more than they.
 *
 * @param received the options that say where this rank's result goes; undefined if it gets none
 */
function joinAgain<R>(
  form: Form<R>,
  seat: Seat<CollectiveContext>,
  name: ReductionName,
  root: number | undefined,
  data: unknown,
  op: unknown,
  options: ReductionOptions | undefined,
  received: ReductionOptions | undefined,
): R | undefined {
  const last = form.mayReuse ? seat.state.collectives.reusableCall() : undefined
  if (!(last instanceof ReductionCall) || !last.isRepeatedBy(name, root, options)) return undefined
  const elements = last.elementsOf(data, op)
  if (elements === undefined) return undefined
  requireFixed(elements)
  return form.join(seat, last, { data: elements, into: intoFor(data, received) }, options)
}

export function scan<R>(
  form: Form<R>,
  comm: CollectiveHandle,
  name: 'scan' | 'exscan',
  data: unknown,
  op: unknown,
  options?: ReductionOptions,
): R {
  return form.attempt(comm, name, callOptions[name], options, (seat) => {
    const { state } = seat
    const again = joinAgain(form, seat, name, undefined, data, op, options, options)
    if (again !== undefined) return again
    const { reduction, contribution } = reductionOf(name, data, op, options)
    const call = new ScanCall(state, reduction, methodOf(name, options, state)).check()
    return form.join(seat, call, contribution, options)
  })
}

/** Starts one of the four gathers; `root` matters only for those with the result at one rank. */
export function gather<R>(
  form: Form<R>,
  comm: CollectiveHandle,
  name: 'gather' | 'gatherv' | 'allgather' | 'allgatherv',
  data: unknown,
  root: number | null,
  options?: BlocksOptions,
): R {
  return form.attempt(comm, name, callOptions[name], options, (seat) => {
    const { state, rank } = seat
    const isRooted = name === 'gather' || name === 'gatherv'
    if (isRooted) requireRoot(root, state.size)
    const isWanted = !isRooted || rank === root
    const block = blockOf(name, data)
    if (name === 'gatherv' || name === 'allgatherv') requireElements(name, block.type)
    // If the root alone refused its lists, the other ranks would be one collective ahead of it.
    const layout = isWanted ? arrayLayout(name, options, state.size) : layoutOf(name, options, state.size)
    const contribution = { block: form.unaliased(isWanted ? layout.into : undefined, block), layout }
    const collective = isRooted ? 'gather' : 'allgather'
    const method = methodOf(collective, options, state)
    const call = gatherCall(state, name, isRooted ? root : null, block, method)
    return form.join(seat, call, contribution, options)
  })
}

function blockCounts(countElems: number, size: number, given: ArrayLike<number> | undefined): Int32Array {
  if (given === undefined) {
    if (countElems % size === 0) return new Int32Array(size).fill(countElems / size)
    const expected = `reduceScatter: expected a multiple of ${size} elements, one block per rank`
    throw wrongValue('ERR_COUNT', expected, countElems)
  }
  const counts = countsOf('reduceScatter: counts', given, size)
  const sum = counts.reduce((a, b) => a + b, 0)
  if (sum === countElems) return counts
  const message = `reduceScatter: counts add up to ${sum}, the data has ${countElems} elements`
  throw new RankweaveError('ERR_COUNT', message)
}

function arrayLayout(name: string, options: BlocksOptions | undefined, size: number): Layout {
  if (options?.into instanceof StridedView)
    throw new RankweaveError('ERR_TYPE', 'into must be a typed array where it takes the blocks of all ranks')
  intoOf(options)
  return layoutOf(name, options, size)
}
