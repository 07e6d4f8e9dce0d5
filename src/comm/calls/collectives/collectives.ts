import { promiseTry } from '../../../base/promise-try.js'
import { RankweaveError } from '../../../errors.js'
import { requireFixed, typeCode } from '../../datatype/elements.js'
import { StridedView } from '../../datatype/strided-view.js'
import type { RankHandle, Seat } from '../../table/seat.js'
import { type AlltoallContribution, alltoallCall } from './alltoall.js'
import { barrierOf } from './barrier.js'
import { type BcastContribution, bcastCall } from './bcast.js'
import {
  blockOf,
  copyIfAliased,
  countsOf,
  type Layout,
  requireElements,
  requireRoot,
} from './blocks/deliver.js'
import type { Gathered } from './blocks/gathered.js'
import { countedBlocks, equalBlocks, type SendBlocks } from './blocks/send-blocks.js'
import { gatherCall } from './gather.js'
import type { CollectiveContext } from './plan/collective-context.js'
import { methodOf } from './plan/method.js'
import {
  type BlocksOptions,
  intoOf,
  type MovementOptions,
  type ReductionOptions,
  type ValueOptions,
} from './plan/options.js'
import { AllreduceCall } from './reductions/allreduce.js'
import { reduceCall } from './reductions/reduce.js'
import { reduceScatterCall } from './reductions/reduce-scatter.js'
import { intoFor, reductionOf } from './reductions/reduction.js'
import { scanCall } from './reductions/scan.js'
import { type ScatterContribution, scatterCall } from './scatter.js'

// What the methods of a communicator do before a rank joins the collective: a rank with invalid arguments rejects
// here, without joining.

type Handle = RankHandle<CollectiveContext>

export function barrier(comm: Handle, options?: ValueOptions): Promise<void> {
  return join(comm, ({ state, localIndex }) => {
    const call = barrierOf(state, methodOf('barrier', options))
    return state.collectives.call(localIndex, call, undefined, options)
  })
}

export function bcast(
  comm: Handle,
  data: unknown,
  root: number,
  options?: MovementOptions,
): Promise<unknown> {
  return join(comm, ({ state, localIndex, rank }) => {
    requireRoot(root, state.size)
    const into = intoOf(options)
    let contribution: BcastContribution | undefined = into === undefined ? undefined : { into }
    if (rank === root) contribution = { data, block: blockOf('bcast', data) }
    const call = bcastCall(state, root, methodOf('bcast', options))
    return state.collectives.call(localIndex, call, contribution, options)
  })
}

export function reduce(
  comm: Handle,
  data: unknown,
  op: unknown,
  root: number,
  options?: ReductionOptions,
): Promise<unknown> {
  return join(comm, ({ state, localIndex, rank }) => {
    requireRoot(root, state.size)
    const { reduction, contribution } = reductionOf('reduce', data, op, rank === root ? options : undefined)
    const call = reduceCall(state, reduction, root, methodOf('reduce', options))
    return state.collectives.call(localIndex, call, contribution, options)
  })
}

export function allreduce(
  comm: Handle,
  data: unknown,
  op: unknown,
  options?: ReductionOptions,
): Promise<unknown> {
  return join(comm, ({ state, localIndex }) => {
    const reusable = state.collectives.reusableCall()
    if (reusable instanceof AllreduceCall && reusable.isMethod(options)) {
      const elements = reusable.elementsOf(data, op)
      if (elements !== undefined) {
        requireFixed(elements)
        const contribution = { data: elements, into: intoFor(data, options) }
        return state.collectives.call(localIndex, reusable, contribution, options)
      }
    }
    const { reduction, contribution } = reductionOf('allreduce', data, op, options)
    const call = new AllreduceCall(state, reduction, methodOf('allreduce', options))
    return state.collectives.call(localIndex, call, contribution, options)
  })
}

export function gather(
  comm: Handle,
  data: unknown,
  root: number,
  options?: MovementOptions,
): Promise<unknown> {
  return gathering(comm, 'gather', data, root, options)
}

export function gatherv(
  comm: Handle,
  data: unknown,
  root: number,
  options?: BlocksOptions,
): Promise<unknown> {
  return gathering(comm, 'gatherv', data, root, options)
}

export function allgather(comm: Handle, data: unknown, options?: MovementOptions): Promise<unknown> {
  return gathering(comm, 'allgather', data, null, options)
}

export function allgatherv(comm: Handle, data: unknown, options?: BlocksOptions): Promise<unknown> {
  return gathering(comm, 'allgatherv', data, null, options)
}

export function scatter(
  comm: Handle,
  data: unknown,
  root: number,
  options?: MovementOptions,
): Promise<unknown> {
  return scattering(comm, 'scatter', root, options, (size) => equalBlocks('scatter', data, size))
}

export function scatterv(
  comm: Handle,
  data: unknown,
  counts: ArrayLike<number> | null,
  root: number,
  options?: MovementOptions & { readonly displs?: ArrayLike<number> },
): Promise<unknown> {
  return scattering(comm, 'scatterv', root, options, (size) =>
    countedBlocks('scatterv', data, counts ?? [], options?.displs, size),
  )
}

export function alltoall(comm: Handle, data: unknown, options?: MovementOptions): Promise<unknown> {
  return join(comm, ({ state, localIndex }) => {
    const layout = layoutOf(options, state.size)
    const contribution: AlltoallContribution = {
      sendBlocks: copyIfAliased(layout.into, equalBlocks('alltoall', data, state.size)),
      layout,
    }
    return state.collectives.call(
      localIndex,
      alltoallCall(state, 'alltoall', contribution.sendBlocks, methodOf('alltoall', options)),
      contribution,
      options,
    )
  })
}

export function alltoallv(
  comm: Handle,
  data: unknown,
  sendCounts: ArrayLike<number>,
  options?: BlocksOptions & { readonly sendDispls?: ArrayLike<number> },
): Promise<Gathered> {
  return join(comm, ({ state, localIndex }) => {
    const layout = layoutOf(options, state.size)
    const sendBlocks = countedBlocks('alltoallv', data, sendCounts, options?.sendDispls, state.size)
    const contribution: AlltoallContribution = { sendBlocks: copyIfAliased(layout.into, sendBlocks), layout }
    return state.collectives.call(
      localIndex,
      alltoallCall(state, 'alltoallv', contribution.sendBlocks, methodOf('alltoall', options)),
      contribution,
      options,
    )
  }) as Promise<Gathered>
}

export function reduceScatter(
  comm: Handle,
  data: unknown,
  op: unknown,
  options?: ReductionOptions & { readonly counts?: ArrayLike<number> },
): Promise<unknown> {
  return join(comm, ({ state, localIndex }) => {
    const { reduction, contribution } = reductionOf('reduceScatter', data, op, options)
    requireElements('reduceScatter', reduction.scalar === null ? reduction.type : typeCode.value)
    const counts = blockCounts(reduction.countElems, state.size, options?.counts)
    return state.collectives.call(
      localIndex,
      reduceScatterCall(state, reduction, counts, methodOf('reduce-scatter', options)),
      contribution,
      options,
    )
  })
}

export function scan(comm: Handle, data: unknown, op: unknown, options?: ReductionOptions): Promise<unknown> {
  return scanning(comm, 'scan', data, op, options)
}

export function exscan(
  comm: Handle,
  data: unknown,
  op: unknown,
  options?: ReductionOptions,
): Promise<unknown> {
  return scanning(comm, 'exscan', data, op, options)
}

function scanning(
  comm: Handle,
  name: 'scan' | 'exscan',
  data: unknown,
  op: unknown,
  options: ReductionOptions | undefined,
): Promise<unknown> {
  return join(comm, ({ state, localIndex }) => {
    const { reduction, contribution } = reductionOf(name, data, op, options)
    const call = scanCall(state, reduction, methodOf(name, options))
    return state.collectives.call(localIndex, call, contribution, options)
  })
}

function gathering(
  comm: Handle,
  name: 'gather' | 'gatherv' | 'allgather' | 'allgatherv',
  data: unknown,
  root: number | null,
  options: BlocksOptions | undefined,
): Promise<unknown> {
  return join(comm, ({ state, localIndex, rank }) => {
    if (root !== null) requireRoot(root, state.size)
    const isWanted = root === null || rank === root
    const block = blockOf(name, data)
    if (name === 'gatherv' || name === 'allgatherv') requireElements(name, block.type)
    const layout = layoutOf(isWanted ? options : undefined, state.size)
    const contribution = { block: copyIfAliased(layout.into, block), layout }
    const method = methodOf(root === null ? 'allgather' : 'gather', options)
    const call = gatherCall(state, name, root, block, method)
    return state.collectives.call(localIndex, call, contribution, options)
  })
}

function scattering(
  comm: Handle,
  name: 'scatter' | 'scatterv',
  root: number,
  options: MovementOptions | undefined,
  blocksOf: (size: number) => SendBlocks,
): Promise<unknown> {
  return join(comm, ({ state, localIndex, rank }) => {
    requireRoot(root, state.size)
    const into = intoOf(options)
    let contribution: ScatterContribution | undefined = into === undefined ? undefined : { into }
    if (rank === root) contribution = { sendBlocks: copyIfAliased(into, blocksOf(state.size)), into }
    const call = scatterCall(state, name, root, methodOf('scatter', options))
    return state.collectives.call(localIndex, call, contribution, options)
  })
}

/** Rejects with the error that `start` throws: a method that returns a promise never throws. */
function join<R>(comm: Handle, start: (seat: Seat<CollectiveContext>) => Promise<R>): Promise<R> {
  return promiseTry(() => start(comm.seat()))
}

function blockCounts(countElems: number, size: number, given: ArrayLike<number> | undefined): Int32Array {
  if (given === undefined) {
    if (countElems % size === 0) return new Int32Array(size).fill(countElems / size)
    throw new RankweaveError(
      'ERR_COUNT',
      `reduceScatter: expected a multiple of ${size} elements, one block per rank, got ${countElems}`,
    )
  }
  const counts = countsOf('reduceScatter: counts', given, size)
  const sum = counts.reduce((a, b) => a + b, 0)
  if (sum === countElems) return counts
  throw new RankweaveError(
    'ERR_COUNT',
    `reduceScatter: counts add up to ${sum}, the data has ${countElems} elements`,
  )
}

function layoutOf(options: BlocksOptions | undefined, size: number): Layout {
  if (options?.into instanceof StridedView) {
    throw new RankweaveError('ERR_TYPE', 'into must be a typed array where it takes the blocks of all ranks')
  }
  return {
    into: intoOf(options),
    counts: options?.counts === undefined ? undefined : countsOf('counts', options.counts, size),
    displs: options?.displs === undefined ? undefined : countsOf('displs', options.displs, size),
  }
}
