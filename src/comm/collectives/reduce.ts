import type { CollectiveCall, Exchange, Signature } from '../collective-engine.js'
import type { CommState } from '../comm-state.js'
import { bytesOf, elementSizeBytes, elementsIn, typeCode } from '../datatype.js'
import { decodeValue } from '../datatype-value.js'
import { bcastBytes, scatterBytes } from '../exchange-patterns.js'
import { hashIntegers } from '../exchange-signature.js'
import type { ReadyOperation } from '../operation.js'
import { type TreePlan, treePlan } from '../reduction-tree.js'
import type { CollectiveName, ReceiveBuffer, TypedArray } from '../types.js'
import { type Algebra, algebraOf } from './algebra.js'
import { concatenate, deliver, deliverData, packedDispls } from './blocks.js'
import { byProcess, localIndexOf, processOfRank } from './placement.js'
import { afterTree, type Leaves, prefixTree, reduceTree } from './tree.js'

/** What one rank passes: its elements, or the bytes of its value. Ranks without `into` pass the array itself. */
export interface ReducePart {
  readonly data: TypedArray
  readonly into: ReceiveBuffer | undefined
}

/** What all ranks of one reduction agree on. */
export interface Reduction {
  readonly name: CollectiveName
  readonly op: ReadyOperation
  /** Wire code of the elements, or of values. */
  readonly type: number
  readonly countElems: number
}

type ReduceCall = CollectiveCall<ReducePart, unknown>

/** Up the tree to the first process, then to the root. */
export function reduceCall(state: CommState, reduction: Reduction, root: number): ReduceCall {
  return {
    signature: signatureOf(reduction, { root }),
    run(parts, exchange) {
      const rootIndex = localIndexOf(state, root)
      const { type } = reduction
      const finish = (data: TypedArray | null) =>
        parts.map(({ into }, localIndex) =>
          localIndex === rootIndex ? deliverData(state, type, data!, into) : null,
        )
      return after(total(state, reduction, parts, exchange), (data) => {
        const rootProcess = processOfRank(state.processes, root)
        if (rootProcess === 0 || (exchange.me !== 0 && exchange.me !== rootProcess)) return finish(data)
        if (exchange.me === 0) {
          exchange.send(rootProcess, afterTree, bytesOf(data!))
          return finish(null)
        }
        return exchange.receive(0, afterTree).then((bytes) => finish(elementsIn(type, bytes)))
      })
    },
  }
}

/** Up the tree to the first process, then to all. */
export function allreduceCall(state: CommState, reduction: Reduction): ReduceCall {
  return {
    signature: signatureOf(reduction),
    run(parts, exchange) {
      const { type } = reduction
      const finish = (data: TypedArray) => parts.map(({ into }) => deliverData(state, type, data, into))
      return after(total(state, reduction, parts, exchange), (data) => {
        if (exchange.count === 1) return finish(data!)
        const spread = bcastBytes(exchange, 0, data === null ? null : bytesOf(data), afterTree)
        return spread.then((bytes) => finish(elementsIn(type, bytes)))
      })
    },
  }
}

/** Up the tree to the first process, then each rank its block. */
export function reduceScatterCall(state: CommState, reduction: Reduction, counts: Int32Array): ReduceCall {
  return {
    signature: signatureOf(reduction, { extra: hashIntegers(counts) }),
    run(parts, exchange) {
      const elemBytes = elementSizeBytes(reduction.type)
      const finish = (mine: Uint8Array) => {
        let at = 0
        return parts.map(({ into }, localIndex) => {
          const end = at + counts[state.localRanks[localIndex]!]! * elemBytes
          const block = mine.subarray(at, end)
          at = end
          return deliver(state, reduction.type, block, into)
        })
      }
      return after(total(state, reduction, parts, exchange), (data) => {
        if (exchange.count === 1) return finish(bytesOf(data!))
        const messages = data === null ? null : blocksPerProcess(state, bytesOf(data), counts, elemBytes)
        return scatterBytes(exchange, 0, messages, afterTree).then(finish)
      })
    },
  }
}

/** Up and down the tree: `scan` includes a rank's own value, `exscan` does not. */
export function scanCall(state: CommState, reduction: Reduction): ReduceCall {
  return {
    signature: signatureOf(reduction),
    async run(parts, exchange) {
      const { name, type } = reduction
      const algebra = algebraFor(reduction)
      const leaves = leavesOf(type, parts)
      const prefixes = await prefixTree(planOf(state), algebra, leaves, exchange)
      // All results are there before the first is written, because `into` may be what another rank still reads.
      const results = prefixes.map((prefix, localIndex) => {
        const isFirst = state.localRanks[localIndex] === 0
        if (name === 'exscan') return isFirst ? null : algebra.toData(prefix)
        const own = leaves.values[localIndex]
        return algebra.toData(isFirst ? own : algebra.combine(prefix, false, own, false))
      })
      return results.map((data, localIndex) =>
        data === null ? null : deliverData(state, type, data, parts[localIndex]!.into),
      )
    },
  }
}

/** The value of the whole tree on the first process; null elsewhere. */
function total(
  state: CommState,
  reduction: Reduction,
  parts: readonly ReducePart[],
  exchange: Exchange,
): TypedArray | null | Promise<TypedArray | null> {
  const algebra = algebraFor(reduction)
  const top = reduceTree(planOf(state), algebra, leavesOf(reduction.type, parts), exchange)
  return after(top, (held) => (held === undefined ? null : algebra.toData(held.value)))
}

function algebraFor({ op, type, countElems }: Reduction): Algebra<unknown> {
  return algebraOf(op, type, countElems)
}

/** Values are decoded here, so that an operation may build on them; elements stay the ranks' own. */
function leavesOf(type: number, parts: readonly ReducePart[]): Leaves<unknown> {
  if (type !== typeCode.value) return { values: parts.map(({ data }) => data), owned: false }
  return { values: parts.map(({ data }) => decodeValue(data as Uint8Array)), owned: true }
}

function signatureOf(
  { name, op, type, countElems }: Reduction,
  more: { root?: number; extra?: number } = {},
): Signature {
  return { name, op: op.name, type, ...(type === typeCode.value ? {} : { count: countElems }), ...more }
}

function blocksPerProcess(
  state: CommState,
  bytes: Uint8Array,
  counts: Int32Array,
  elemBytes: number,
): Uint8Array[] {
  const displs = packedDispls(counts)
  const blocks = Array.from(counts, (count, rank) =>
    bytes.subarray(displs[rank]! * elemBytes, (displs[rank]! + count) * elemBytes),
  )
  return byProcess(state.processes, blocks).map(concatenate)
}

const plans = new WeakMap<CommState, TreePlan>()

function planOf(state: CommState): TreePlan {
  let plan = plans.get(state)
  if (plan === undefined) {
    plan = treePlan(state.processes, state.processIndex)
    plans.set(state, plan)
  }
  return plan
}

/** `then`, at once where the value is there already. */
function after<A, B>(value: A | Promise<A>, next: (value: A) => B | Promise<B>): B | Promise<B> {
  return value instanceof Promise ? value.then(next) : next(value)
}
