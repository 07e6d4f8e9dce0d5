import type { Reductions, Specification } from '../specification.js'
import { Parts } from './term-table.js'
import type { ViolationList } from './violations.js'

/**
 * Checks that the arrays form a specification: lengths, ascending rows, blocks and reductions in range. Every reduction
 * must be over at least one rank, of one part, and, except in neighbor reductions, with each rank once.
 */
export function checkSpecification(specification: Specification, found: ViolationList): boolean {
  const before = found.count
  const complain = (message: () => string): void =>
    found.add('structure', 0, null, () => `specification: ${message()}`)
  checkRows(specification, complain)
  if (found.count > before) return false
  checkTerms(specification, complain)
  if (found.count > before) return false
  checkReductions(specification, complain)
  return found.count === before
}

type Complain = (message: () => string) => void

function checkRows(
  { ranks, partStart, ownStart, ownBlock, slotStart, slotTerm, reductions }: Specification,
  complain: Complain,
): void {
  if (!Number.isInteger(ranks) || ranks < 0) {
    complain(() => `ranks must be an integer of at least 0, got ${ranks}`)
    return
  }
  const { runStart, first, count, stride } = reductions
  const lengths: readonly (readonly [string, number, number])[] = [
    ['partStart', partStart.length, ranks + 1],
    ['ownStart', ownStart.length, ranks + 1],
    ['slotStart', slotStart.length, ranks + 1],
    ['count of reductions', count.length, first.length],
    ['stride of reductions', stride.length, first.length],
  ]
  for (const [name, length, expected] of lengths) {
    if (length !== expected) complain(() => `${name} must have ${expected} elements, got ${length}`)
  }
  for (const [name, starts, end] of [
    ['partStart', partStart, null],
    ['ownStart', ownStart, ownBlock.length],
    ['slotStart', slotStart, slotTerm.length],
    ['runStart of reductions', runStart, first.length],
  ] as const) {
    if (ascendsFromZeroTo(starts, end)) continue
    complain(() => `${name} must ascend from 0${end === null ? '' : ` to ${end}`}`)
  }
}

/** Whether starts of rows ascend from 0, and to an end if it is given. */
export function ascendsFromZeroTo(starts: Int32Array, end: number | null): boolean {
  for (let i = 1; i < starts.length; i++) if (starts[i] < starts[i - 1]) return false
  return starts[0] === 0 && (end === null || starts[starts.length - 1] === end)
}

function checkTerms(
  { ranks, partStart, ownBlock, slotTerm, reductions }: Specification,
  complain: Complain,
): void {
  const blocks = partStart[ranks]
  const count = reductions.runStart.length - 1
  const block = ownBlock.find((b) => b < 0 || b >= blocks)
  if (block !== undefined) complain(() => `an own block must be from 0 to ${blocks - 1}, got ${block}`)
  const term = slotTerm.find((t) => t >= blocks || ~t >= count)
  if (term === undefined) return
  complain(() =>
    term >= 0
      ? `a slot must hold a block from 0 to ${blocks - 1}, got ${term}`
      : `a slot must hold a reduction from 0 to ${count - 1}, got ${~term}`,
  )
}

function checkReductions(specification: Specification, complain: Complain): void {
  const { reductions, ranks } = specification
  const count = reductions.runStart.length - 1
  if (count === 0) return
  // Parallel edges bring a block as often as there are edges.
  const mayRepeat = specification.collective === 'neighbor-reduce'
  const parts = new Parts(specification)
  const seenIn = new Int32Array(ranks).fill(-1)
  for (let reduction = 0; reduction < count; reduction++) {
    const fault = reductionFault(specification, reduction, mayRepeat)
    if (fault !== null) complain(() => `reduction ${reduction} ${fault}`)
    else if (!isOfOnePart(reductions, parts, reduction, mayRepeat ? null : seenIn)) {
      const once = mayRepeat ? '' : ', each once'
      complain(() => `reduction ${reduction} must combine one part of every rank${once}`)
    }
  }
}

/** Returns what is wrong with the number of blocks of a reduction, or with their range; null if nothing is. */
function reductionFault(
  { reductions, ranks, partStart }: Specification,
  reduction: number,
  mayRepeat: boolean,
): string | null {
  const { runStart, first, count, stride } = reductions
  const blocks = partStart[ranks]
  let all = 0
  for (let run = runStart[reduction]; run < runStart[reduction + 1]; run++) {
    if (count[run] < 1) return `has a run of ${count[run]} blocks`
    all += count[run]
    const last = first[run] + (count[run] - 1) * stride[run]
    if (first[run] < 0 || first[run] >= blocks || last < 0 || last >= blocks)
      return `must combine blocks from 0 to ${blocks - 1}, got ${first[run]} to ${last}`
  }
  if (all < 1) return 'must combine at least 1 block, got none'
  if (all > ranks && !mayRepeat) return `must combine 1 to ${ranks} blocks, got ${all}`
  return null
}

/**
 * Whether the blocks are the same part of their ranks, and of different ranks if `seenIn`, a mark for each rank, is
 * given. Takes O(runs) for reductions of one run if all ranks have equally many parts, else O(blocks).
 */
function isOfOnePart(
  { runStart, first, count, stride }: Reductions,
  parts: Parts,
  reduction: number,
  seenIn: Int32Array | null,
): boolean {
  const [from, to] = [runStart[reduction], runStart[reduction + 1]]
  if (to - from === 1 && parts.perRank > 0)
    return count[from] === 1 || (stride[from] !== 0 && stride[from] % parts.perRank === 0)
  const part = parts.partOf(first[from])
  for (let run = from; run < to; run++) {
    for (let n = 0; n < count[run]; n++) {
      const block = first[run] + n * stride[run]
      const origin = parts.originOf(block)
      if (parts.partOf(block) !== part || seenIn?.[origin] === reduction) return false
      if (seenIn !== null) seenIn[origin] = reduction
    }
  }
  return true
}
