import { bytesOf, overlap } from '../../../../base/bytes.js'
import { indexIn } from '../../../../base/search.js'
import { elementSizeBytes, elementsIn, type TypedArray } from '../../../datatype/elements.js'
import type { Kernel } from '../../../datatype/operation-kernels.js'
import { StridedView } from '../../../datatype/strided-view.js'
import type { Exchange } from '../../exchange.js'
import { isLong } from '../blocks/block-list.js'
import { SharedLanding } from '../blocks/shared-landing.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import { combinerOf } from '../reduce/combiner.js'
import { foldRanks } from '../reduce/fold.js'
import { type PieceTree, pieceTree } from '../reduce/tree-pieces.js'
import type { ReduceContribution, Reduction } from './reduction.js'

const step = { piece: 0, result: 1 } as const
/** Most pieces per process: with more, what each process sends exceeds what the tree of processes does. */
const mostPieces = 4

/**
 * An allreduce of many elements: every process combines its segment of all contributions and sends it to all others, so
 * that all links and processors work at once. Each element is combined in the one order of the tree, which does not depend
 * on the process that does it.
 *
 * @returns false, and nothing done, where the tree of processes is better or the operation needs whole arrays
 */
export function allreduceLong(
  state: CollectiveContext,
  { op, type, countElems, scalar }: Reduction,
  contributions: readonly ReduceContribution[],
  exchange: Exchange,
): boolean {
  const { count } = exchange
  const sizeBytes = countElems * elementSizeBytes(type)
  if (count === 1 || op.kind !== 'kernel' || scalar !== null || state.wasDistributed) return false
  if (!isLong(exchange, Math.floor(sizeBytes / count))) return false
  const locations = {
    processOf: (rank: number) => state.processOfRank(rank) as number,
    endOfRun: (rank: number) => state.processes.endOfRun(rank),
  }
  const tree = pieceTree(state.size, locations, mostPieces * count)
  if (tree === undefined) return false
  const landing = new SharedLanding(
    state,
    type,
    sizeBytes,
    contributions.map(({ into }) => into),
    (localIndex) => !isMisplaced(contributions[localIndex]!),
  )
  new SegmentedReduction(state, type, countElems, op.kernel, tree, landing, exchange).run(contributions)
  return true
}

class SegmentedReduction {
  readonly #state: CollectiveContext
  readonly #type: number
  readonly #countElems: number
  readonly #kernel: Kernel
  readonly #tree: PieceTree
  readonly #landing: SharedLanding
  readonly #exchange: Exchange

  constructor(
    state: CollectiveContext,
    type: number,
    countElems: number,
    kernel: Kernel,
    tree: PieceTree,
    landing: SharedLanding,
    exchange: Exchange,
  ) {
    this.#state = state
    this.#type = type
    this.#countElems = countElems
    this.#kernel = kernel
    this.#tree = tree
    this.#landing = landing
    this.#exchange = exchange
  }

  run(contributions: readonly ReduceContribution[]): void {
    const { me, count } = this.#exchange
    const own = this.#ownPieces(contributions)
    for (let distance = 1; distance < count; distance++) {
      const peer = (me + distance) % count
      for (const bytes of own.values()) this.#exchange.send(peer, step.piece, this.#segment(bytes, peer))
    }
    // By piece: my segment of its value, and whether it may be overwritten.
    const values: TypedArray[] = []
    const owned: boolean[] = []
    let missing = this.#tree.pieces.length
    // What has arrived before this call is taken at once, so that any piece may be the last one, also one of mine.
    const add = (piece: number, value: Uint8Array, isOwned: boolean) => {
      values[piece] = elementsIn(this.#type, value)
      owned[piece] = isOwned
      if (--missing === 0) this.#combine(values, owned)
    }
    // The first piece that comes is received where the result will be, unless that is a rank's own data.
    const result = this.#segment(this.#landing.bytes, me)
    let isFree = contributions.every(({ data }) => data.buffer !== result.buffer)
    this.#tree.pieces.forEach(({ process }, piece) => {
      if (process === me) {
        add(piece, this.#segment(own.get(piece)!, me), false)
        return
      }
      const bytes = isFree ? result : new Uint8Array(result.byteLength)
      isFree = false
      this.#exchange.takeInto(
        process,
        step.piece,
        () => bytes,
        () => add(piece, bytes, true),
      )
    })
  }

  /** The values of my pieces, by their place in the tree. */
  #ownPieces(contributions: readonly ReduceContribution[]): Map<number, Uint8Array> {
    const combiner = combinerOf(
      { kind: 'kernel', name: '', kernel: this.#kernel },
      this.#type,
      this.#countElems,
    )
    const leaves = { values: contributions.map(({ data }) => data), owned: false }
    const own = new Map<number, Uint8Array>()
    this.#tree.pieces.forEach(({ first, ranks, process }, piece) => {
      if (process !== this.#exchange.me) return
      const local = indexIn(this.#state.localRanks, first)
      own.set(piece, bytesOf(foldRanks(combiner, leaves, local, ranks).value as TypedArray))
    })
    return own
  }

  /** Combines my segment, the last time into the result, and exchanges the segments of the result. */
  #combine(values: readonly TypedArray[], owned: readonly boolean[]): void {
    const { me, count } = this.#exchange
    const { bytes } = this.#landing
    const result = elementsIn(this.#type, this.#segment(bytes, me))
    const stack: { value: TypedArray; owned: boolean }[] = []
    let left = values.length - 1
    values.forEach((value, piece) => {
      stack.push({ value, owned: owned[piece]! })
      for (let merges = this.#tree.merges[piece]!; merges > 0; merges--) {
        const right = stack.pop()!
        const top = stack[stack.length - 1]!
        const out =
          --left === 0 ? result : top.owned ? top.value : right.owned ? right.value : top.value.slice()
        this.#kernel(out, top.value, right.value)
        stack[stack.length - 1] = { value: out, owned: true }
      }
    })
    let missing = count - 1
    for (let distance = 1; distance < count; distance++) {
      this.#exchange.send((me + distance) % count, step.result, this.#segment(bytes, me))
    }
    for (let distance = 1; distance < count; distance++) {
      const peer = (me - distance + count) % count
      this.#exchange.takeInto(
        peer,
        step.result,
        () => this.#segment(bytes, peer),
        () => {
          if (--missing === 0) this.#exchange.finish(this.#landing.results())
        },
      )
    }
  }

  /** A process's segment of a whole array. */
  #segment(bytes: Uint8Array, process: number): Uint8Array {
    const elemBytes = elementSizeBytes(this.#type)
    return bytes.subarray(this.#startOf(process) * elemBytes, this.#startOf(process + 1) * elemBytes)
  }

  /** First element of a process's segment: `minloc` and `maxloc` take elements in pairs. */
  #startOf(process: number): number {
    const { count } = this.#exchange
    if (process === count) return this.#countElems
    return 2 * Math.floor((process * (this.#countElems >> 1)) / count)
  }
}

/** Whether a result written segment by segment would change data that others still need: in place it would not. */
function isMisplaced({ data, into }: ReduceContribution): boolean {
  if (into === undefined) return false
  const target = into instanceof StridedView ? into.array : into
  return target.byteOffset !== data.byteOffset && overlap(target, data)
}
