import type { Communicator } from '../comm/communicator.js'
import type { TypedArray } from '../messages/datatype/elements.js'
import type { ElementType } from '../tuning/measured/measurement.js'
import { isReduction, type TuningCall } from '../tuning/settings/tuning-call.js'
import { elementBytes, measuredOperation } from './grid.js'

export interface CallMethod {
  /** The line of text of an algorithm; undefined for the library's default. */
  readonly algorithm?: string
  readonly order?: 'tree' | 'any'
}

/** A call on the ranks of a communicator, with its data. All ranks make it together. */
export interface MeasuredCall {
  once(method: CallMethod): Promise<unknown>
  /** Makes the result wrong, so that a call which does nothing is found. */
  clear(): void
  /** Returns whether the result of this rank is right. */
  isRight(): boolean
}

/** Returns byte `i` of the block that one rank has for another. */
function byteOf(srcRank: number, dstRank: number, i: number): number {
  return (srcRank * 89 + dstRank * 31 + i * 7 + (i >>> 8) * 13 + 5) % 251
}

/** Returns element `i` of a rank's contribution: sums over 2^22 ranks are exact in every type of element. */
function termOf(rank: number, i: number): number {
  return ((rank * 7 + i * 3) % 101) + 1
}

/** @param call whose processes are the ranks of the communicator */
export function measuredCall(comm: Communicator, call: TuningCall, elementType: ElementType): MeasuredCall {
  return isReduction(call.collective) ? reductionOf(comm, call, elementType) : movementOf(comm, call)
}

const root = 0

function movementOf(comm: Communicator, { collective, bytes }: TuningCall): MeasuredCall {
  const { rank, size } = comm
  const isRoot = rank === root
  const all = Array.from({ length: size }, (_, other) => other)
  const blocks = (ofBlock: (other: number) => readonly [src: number, dst: number]) => {
    const data = new Uint8Array(bytes * size)
    for (const other of all) {
      const [src, dst] = ofBlock(other)
      fillBytes(data.subarray(other * bytes, (other + 1) * bytes), src, dst)
    }
    return data
  }
  const block = (src: number, dst: number) => fillBytes(new Uint8Array(bytes), src, dst)
  switch (collective) {
    case 'barrier':
      return { once: (method) => comm.barrier(method), clear() {}, isRight: () => true }
    case 'bcast': {
      const data = isRoot ? block(root, root) : null
      return received(isRoot ? null : new Uint8Array(bytes), block(root, root), (into, method) =>
        comm.bcast(data, root, into === null ? method : { into, ...method }),
      )
    }
    case 'scatter': {
      const data = isRoot ? blocks((other) => [root, other]) : null
      return received(new Uint8Array(bytes), block(root, rank), (into, method) =>
        comm.scatter(data, root, { into: into!, ...method }),
      )
    }
    case 'gather': {
      const data = block(rank, root)
      const into = isRoot ? new Uint8Array(bytes * size) : null
      const expected = isRoot ? blocks((other) => [other, root]) : new Uint8Array(0)
      return received(into, expected, (array, method) =>
        comm.gather(data, root, array === null ? method : { into: array, ...method }),
      )
    }
    case 'allgather': {
      const data = block(rank, 0)
      return received(
        new Uint8Array(bytes * size),
        blocks((other) => [other, 0]),
        (into, method) => comm.allgather(data, { into: into!, ...method }),
      )
    }
    case 'alltoall': {
      const data = blocks((other) => [rank, other])
      return received(
        new Uint8Array(bytes * size),
        blocks((other) => [other, rank]),
        (into, method) => comm.alltoall(data, { into: into!, ...method }),
      )
    }
    default:
      throw new TypeError(`no call of ${collective} is measured`)
  }
}

function reductionOf(comm: Communicator, call: TuningCall, elementType: ElementType): MeasuredCall {
  const { collective, bytes } = call
  const { rank, size } = comm
  const count = bytes / elementBytes(elementType)
  const ofLength = (length: number) =>
    elementType === 'float64' ? new Float64Array(length) : new Int32Array(length)
  const length = collective === 'reduce-scatter' ? count * size : count
  const data = filled(ofLength(length), (i) => termOf(rank, i))
  /** Returns element `i` of the sum over the ranks from 0 to `ranks - 1`. */
  const sum = (ranks: number, i: number) => {
    let total = 0
    for (let other = 0; other < ranks; other++) total += termOf(other, i)
    return total
  }
  const into = ofLength(count)
  const expect = (ranks: number, first = 0) => filled(ofLength(count), (i) => sum(ranks, first + i))
  const op = measuredOperation
  switch (collective) {
    case 'reduce': {
      const expected = rank === root ? expect(size) : ofLength(0)
      return received(rank === root ? into : null, expected, (array, method) =>
        comm.reduce(data, op, root, array === null ? method : { into: array as never, ...method }),
      )
    }
    case 'allreduce':
      return received(into, expect(size), (array, method) =>
        comm.allreduce(data, op, { into: array as never, ...method }),
      )
    case 'reduce-scatter':
      return received(into, expect(size, rank * count), (array, method) =>
        comm.reduceScatter(data, op, { into: array as never, ...method }),
      )
    case 'scan':
      return received(into, expect(rank + 1), (array, method) =>
        comm.scan(data, op, { into: array as never, ...method }),
      )
    case 'exscan': {
      const expected = rank === 0 ? ofLength(0) : expect(rank)
      return received(rank === 0 ? null : into, expected, (array, method) =>
        comm.exscan(data, op, array === null ? method : { into: array as never, ...method }),
      )
    }
    default:
      throw new TypeError(`no reduction ${collective} is measured`)
  }
}

/** Returns a call with a result in an array, on ranks that have one. */
function received<T extends TypedArray>(
  into: T | null,
  expected: T,
  once: (into: T | null, method: CallMethod) => Promise<unknown>,
): MeasuredCall {
  return {
    once: (method) => once(into, method),
    clear: () => void into?.fill(0 as never),
    isRight: () => into === null || expected.every((value: unknown, i: number) => value === into[i]),
  }
}

function fillBytes(array: Uint8Array, srcRank: number, dstRank: number): Uint8Array {
  for (let i = 0; i < array.length; i++) array[i] = byteOf(srcRank, dstRank, i)
  return array
}

function filled<T extends Float64Array | Int32Array>(array: T, of: (i: number) => number): T {
  for (let i = 0; i < array.length; i++) array[i] = of(i)
  return array
}
