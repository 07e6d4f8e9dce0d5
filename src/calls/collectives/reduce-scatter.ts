import { bytesOf } from '../../base/bytes.js'
import { hashIntegers } from '../../base/hash.js'
import { whenThere } from '../../base/turn.js'
import { algorithmOf } from '../../collective/algorithms.js'
import { RankweaveError } from '../../errors.js'
import { elementSizeBytes, type TypedArray } from '../../messages/datatype/elements.js'
import { type Exchange, noBytes } from '../exchange/exchange.js'
import type { CollectiveContext, CollectivePlan } from '../plan/collective-plan.js'
import type { Method } from '../plan/method.js'
import { deliver, packedDispls } from '../values/deliver.js'
import { byProcess, isRankOrder, sumsByProcess } from '../values/placement.js'
import { moveBlocks, segmentLengths } from './move-blocks.js'
import type { ReductionOptions } from './options.js'
import {
  leavesOf,
  pairCut,
  type ReduceContribution,
  type Reduction,
  ReductionCall,
  type ReductionName,
  ReductionRun,
} from './reduction.js'

/** Reduces, and calls back with the blocks of the ranks here side by side. */
type BlocksRun = (
  contributions: readonly ReduceContribution[],
  exchange: Exchange,
  done: (mine: Uint8Array) => void,
) => void

/** A reduce-scatter that runs its own plan, or reduces to the first rank, from which the blocks are scattered. */
export class ReduceScatterCall extends ReductionCall<BlocksRun> {
  readonly counts: Int32Array
  readonly #isEqual: boolean

  /** @param isEqual whether all counts follow from the length of the data */
  constructor(
    state: CollectiveContext,
    reduction: Reduction,
    counts: Int32Array,
    isEqual: boolean,
    method: Method | undefined,
  ) {
    super(state, 'reduce-scatter', reduction, method, { extra: hashIntegers(counts) })
    this.counts = counts
    this.#isEqual = isEqual
  }

  override isRepeatedBy(
    name: ReductionName,
    root: number | undefined,
    options: (ReductionOptions & { readonly counts?: ArrayLike<number> }) | undefined,
  ): boolean {
    return this.#isEqual && options?.counts === undefined && super.isRepeatedBy(name, root, options)
  }

  /**
   * @throws ERR_ALGORITHM for pairs of elements that the counts would separate, if the ranks have chosen the algorithm
   */
  protected override prepare(plan: CollectivePlan | null): BlocksRun | Promise<BlocksRun> {
    const { method, counts } = this
    const { name } = this.reduction.op
    const isParted = (name === 'minloc' || name === 'maxloc') && counts.some((count) => count % 2 !== 0)
    if (plan !== null && !isParted) return this.#direct(plan)
    if (method?.algorithm !== undefined) {
      throw new RankweaveError('ERR_ALGORITHM', `${method.algorithm.id}: the counts part pairs of elements`)
    }
    const order =
      method?.isAnyOrder === true || method?.isAuto === true ? { ...method, segments: undefined } : undefined
    return whenThere(this.plan('reduce', order), (reduce) => this.#throughFirst(reduce!))
  }

  protected override runBy(
    run: BlocksRun,
    contributions: readonly ReduceContribution[],
    exchange: Exchange,
  ): void {
    const { state, counts } = this
    const { type } = this.reduction
    run(contributions, exchange, (mine) => {
      // A rank's contribution may be the memory that its result fills.
      exchange.whenSent(() => {
        let at = 0
        const results = contributions.map(({ into }, localIndex) => {
          const end = at + counts[state.localRanks[localIndex]] * elementSizeBytes(type)
          const block = mine.subarray(at, end)
          at = end
          return deliver(state, type, block, into)
        })
        exchange.finish(results)
      })
    })
  }

  #direct(plan: CollectivePlan): BlocksRun {
    const { state, reduction, counts } = this
    const { firstRank } = plan.participants
    const { segments = 1 } = plan.shape
    const displs = packedDispls(counts)
    const units =
      firstRank === null
        ? sumsByProcess(state.processes, counts)
        : Float64Array.from(plan.participants.process, (_, participant) => {
            const [first, end] = [firstRank[participant], firstRank[participant + 1]]
            return displs[end - 1] + counts[end - 1] - displs[first]
          })
    const parts = plan.shape.ranks * segments
    const run = new ReductionRun(plan, reduction, (term) => {
      const part = term < 0 ? ~term : term % parts
      const unit = units[Math.floor(part / segments)]
      const segment = part % segments
      return pairCut(unit, segments, segment + 1) - pairCut(unit, segments, segment)
    })
    const isOrdered = firstRank !== null || isRankOrder(state.processes)
    const ranges = isOrdered ? null : rangesOf(state, counts, displs)
    return (contributions, exchange, done) => {
      const { values, owned } = run.folded(leavesOf(reduction.type, contributions))
      const own = ranges === null ? values : values.map((value) => inOrder(value as TypedArray, ranges))
      run.run({ values: own, owned }, exchange, newRoom, ({ data }) => done(bytesOf(data)))
    }
  }

  #throughFirst(plan: CollectivePlan): BlocksRun {
    const { state, reduction, counts } = this
    const elemBytes = elementSizeBytes(reduction.type)
    const displs = packedDispls(counts)
    const run = new ReductionRun(plan, reduction)
    const scatter = state.plans.movePlan({ algorithm: algorithmOf('scatter-linear'), segments: 1 })
    const sums = sumsByProcess(state.processes, counts)
    const lengths = segmentLengths((process) => sums[process] * elemBytes, 1)
    const ranges = isRankOrder(state.processes) ? null : rangesOf(state, counts, displs)
    return (contributions, exchange, done) =>
      run.run(run.folded(leavesOf(reduction.type, contributions)), exchange, newRoom, ({ data }) => {
        const { me } = exchange
        const total = ranges === null || me !== 0 ? data : inOrder(data, ranges)
        if (exchange.count === 1) {
          done(bytesOf(total))
          return
        }
        const slots = new Uint8Array(sums[me] * elemBytes)
        moveBlocks(scatter, lengths, [me === 0 ? bytesOf(total) : noBytes], slots, exchange, () =>
          done(slots),
        )
      })
  }
}

function newRoom(sizeBytes: number): Uint8Array {
  return new Uint8Array(sizeBytes)
}

interface Range {
  readonly start: number
  readonly end: number
}

/** Returns the ranges of the ranks' elements, process by process. */
function rangesOf(state: CollectiveContext, counts: Int32Array, displs: Int32Array): readonly Range[] {
  const ranks = byProcess(
    state.processes,
    Array.from(counts, (_, rank) => rank),
  ).flat()
  return ranks.map((rank) => ({ start: displs[rank], end: displs[rank] + counts[rank] }))
}

function inOrder(array: TypedArray, ranges: readonly Range[]): TypedArray {
  const ordered = array.slice()
  let at = 0
  for (const { start, end } of ranges) {
    ;(ordered as Float64Array).set(array.subarray(start, end) as Float64Array, at)
    at += end - start
  }
  return ordered
}
