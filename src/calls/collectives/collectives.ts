import { RankweaveError, wrongValue } from '../../errors.js'
import { requireFixed, typeCode } from '../../messages/datatype/elements.js'
import { StridedView } from '../../messages/datatype/strided-view.js'
import type { Seat } from '../../messages/process/comm-context.js'
import { gathered } from '../matching/collective-engine.js'
import type { CollectiveContext } from '../plan/collective-plan.js'
import { methodOf } from '../plan/resolve.js'
import {
  blockOf,
  countsOf,
  intoOf,
  type Layout,
  layoutOf,
  requireElements,
  requireRoot,
} from '../values/deliver.js'
import { countedBlocks, equalBlocks } from '../values/send-blocks.js'
import { AllreduceCall } from './allreduce.js'
import { type AlltoallContribution, alltoallCall } from './alltoall.js'
import { barrierOf } from './barrier.js'
import { type BcastContribution, bcastCall } from './bcast.js'
import { blocking, type Form, type Handle } from './form.js'
import { gatherCall } from './gather.js'
import {
  type BlocksOptions,
  callOptions,
  type MovementOptions,
  type ReductionOptions,
  type ValueOptions,
} from './options.js'
import { ReduceCall } from './reduce.js'
import { ReduceScatterCall } from './reduce-scatter.js'
import { intoFor, type ReductionName, reductionOf } from './reduction.js'
import { ReductionCall } from './reduction-call.js'
import { ScanCall } from './scan.js'
import { type ScatterContribution, scatterCall } from './scatter.js'
import { repeated } from './together.js'

// The methods of a communicator run these functions before a rank joins the collective, in every form. A rank with
// invalid arguments fails here, without joining.

export function barrier<R>(form: Form<R>, comm: Handle, options?: ValueOptions): R {
  if (repeated !== undefined && form === blocking && options === undefined && repeated.takeBarrier(comm))
    return gathered as R
  return startBarrier(form, comm, options)
}

// What starts a call is apart from what repeats one, which would otherwise allocate the variables that its function
// captures.

function startBarrier<R>(form: Form<R>, comm: Handle, options?: ValueOptions): R {
  return form.attempt(comm, 'barrier', callOptions.barrier, options, (seat) => {
    const { state } = seat
    return form.join(seat, barrierOf(state, methodOf('barrier', options, state)), undefined, options)
  })
}

export function bcast<R>(
  form: Form<R>,
  comm: Handle,
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
  comm: Handle,
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
  comm: Handle,
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
  comm: Handle,
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
  comm: Handle,
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
  comm: Handle,
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
  comm: Handle,
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
  comm: Handle,
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
  comm: Handle,
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
