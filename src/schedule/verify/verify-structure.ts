import { opKind, type Schedule } from '../ir.js'
import { blockCount, type Reductions, type Specification } from '../specification.js'
import { operationKind, waitsAfter } from '../walk.js'
import { Parts } from './term-table.js'
import type { ViolationList } from './violations.js'

/**
 * Checks that the arrays form a schedule: lengths, ascending rows, and kinds, peers, tags, blocks and places in range.
 * The other checks rely on this one and are skipped when it fails.
 */
export function checkStructure(schedule: Schedule, specification: Specification, found: ViolationList): void {
  if (checkSpecification(specification, found) && checkRows(schedule, found))
    checkOperations(schedule, specification, found)
}

function checkRows(schedule: Schedule, found: ViolationList): boolean {
  const { phases, specification, staging, opStart, entryStart, entryRight } = schedule
  const ops = schedule.opKind.length
  const entries = schedule.entryBlock.length
  const hasOperands = entryRight.length > 0 || schedule.opKind.includes(opKind.combine)
  const lengths: readonly (readonly [string, number, number])[] = [
    ['staging', staging.length, specification.ranks],
    ['opStart', opStart.length, specification.ranks + 1],
    ['opPhase', schedule.opPhase.length, ops],
    ['opPeer', schedule.opPeer.length, ops],
    ['opTag', schedule.opTag.length, ops],
    ['opAfter', schedule.opAfter.length, schedule.opAfter.length > 0 ? ops : 0],
    ['entryStart', entryStart.length, ops + 1],
    ['entryFrom', schedule.entryFrom.length, entries],
    ['entryRight', entryRight.length, hasOperands ? entries : 0],
    ['entryTo', schedule.entryTo.length, entries],
  ]
  let sound = Number.isInteger(phases) && phases >= 0
  if (!sound) found.add('structure', 0, null, () => `phases must be an integer of at least 0, got ${phases}`)
  for (const [name, length, expected] of lengths) {
    if (length === expected) continue
    sound = false
    found.add('structure', 0, null, () => `${name} must have ${expected} elements, got ${length}`)
  }
  for (const [name, starts, end] of [
    ['opStart', opStart, ops],
    ['entryStart', entryStart, entries],
  ] as const) {
    if (ascendsFromZeroTo(starts, end)) continue
    sound = false
    found.add('structure', 0, null, () => `${name} must ascend from 0 to ${end}`)
  }
  const negative = staging.findIndex((places) => places < 0)
  if (negative !== -1) {
    sound = false
    found.add('structure', negative, null, () => `staging must be at least 0, got ${staging[negative]}`)
  }
  return sound
}

function checkOperations(schedule: Schedule, specification: Specification, found: ViolationList): void {
  const { opStart, opPhase, entryStart } = schedule
  const { ranks, ownStart, slotStart } = specification
  const ranges: Ranges = {
    ranks,
    places: 0,
    blocks: blockCount(specification),
    parts: mostParts(specification),
  }
  for (let rank = 0; rank < ranks; rank++) {
    const own = ownStart[rank + 1] - ownStart[rank]
    ranges.places = own + slotStart[rank + 1] - slotStart[rank] + schedule.staging[rank]
    const first = opStart[rank]
    for (let op = first; op < opStart[rank + 1]; op++) {
      const fault = operationFault(schedule, op, op === first ? 0 : opPhase[op - 1], ranges)
      if (fault !== null) complain(rank, op, fault)
      if (schedule.opKind[op] > opKind.combine) continue
      for (let e = entryStart[op]; e < entryStart[op + 1]; e++) {
        const wrong = entryFault(schedule, schedule.opKind[op], e, ranges)
        if (wrong !== null) complain(rank, op, wrong)
      }
    }
  }

  function complain(rank: number, op: number, fault: string): void {
    found.add('structure', rank, opPhase[op], () => `${described(schedule, op)} of rank ${rank}: ${fault}`)
  }
}

/** Describes an operation by the numbers in the arrays, any of which may be wrong. */
function described(schedule: Schedule, op: number): string {
  const phase = `in phase ${schedule.opPhase[op]} (operation ${op})`
  const [kind, peer, tag] = [schedule.opKind[op], schedule.opPeer[op], schedule.opTag[op]]
  if (kind > opKind.combine) return `operation of kind ${kind} ${phase}`
  if (kind >= opKind.copy) return `${operationKind(schedule, op)} ${phase}`
  return `${operationKind(schedule, op)} ${kind === opKind.send ? 'to' : 'from'} rank ${peer} with tag ${tag} ${phase}`
}

/** The numbers of all ranks, of a rank's places, of all blocks, and of the parts of the rank that has most. */
interface Ranges {
  readonly ranks: number
  places: number
  readonly blocks: number
  readonly parts: number
}

/** @param before the phase of the operation before it at its rank */
function operationFault(schedule: Schedule, op: number, before: number, { ranks }: Ranges): string | null {
  const phase = schedule.opPhase[op]
  if (phase < before || phase >= schedule.phases)
    return `phases must ascend below ${schedule.phases}, got ${phase} after ${before}`
  const kind = schedule.opKind[op]
  if (kind > opKind.combine) return `kind must be 0 (send), 1 (receive), 2 (copy) or 3 (combine), got ${kind}`
  const peer = schedule.opPeer[op]
  const isLocal = kind >= opKind.copy
  if (isLocal ? peer !== -1 : peer < 0 || peer >= ranks) {
    const expected = isLocal ? '-1' : `a rank from 0 to ${ranks - 1}`
    return `the peer of a ${operationKind(schedule, op)} must be ${expected}, got ${peer}`
  }
  const tag = schedule.opTag[op]
  if (isLocal ? tag !== 0 : tag < 0) return `tag ${tag} is out of range`
  const after = waitsAfter(schedule, op)
  if (after === -1) return null
  if (isLocal) return `a ${operationKind(schedule, op)} cannot wait for phases, got ${after}`
  if (after < -1 || after >= phase) return `it can wait for phases before its own, ${phase}, got ${after}`
  return null
}

function entryFault(
  { entryBlock, entryFrom, entryRight, entryTo }: Schedule,
  kind: number,
  e: number,
  { places, blocks, parts }: Ranges,
): string | null {
  const block = entryBlock[e]
  if (block < 0 && ~block >= parts) return `a part must be from 0 to ${parts - 1}, got ${~block}`
  if (block >= blocks) return `a block must be from 0 to ${blocks - 1}, got ${block}`
  if (block >= 0 && kind === opKind.combine) return `a combination must name a part, got block ${block}`
  const from = entryFrom[e]
  if (kind === opKind.receive ? from !== -1 : from < 0 || from >= places)
    return `reads place ${from}, but the rank has places 0 to ${places - 1}`
  const right = entryRight.length > 0 ? entryRight[e] : -1
  if (kind === opKind.combine ? right < 0 || right >= places : right !== -1)
    return `has place ${right} as right operand, but the rank has places 0 to ${places - 1}`
  const to = entryTo[e]
  if (kind === opKind.send ? to !== -1 : to < 0 || to >= places)
    return `writes place ${to}, but the rank has places 0 to ${places - 1}`
  return null
}

function mostParts({ partStart, ranks }: Specification): number {
  let most = 0
  for (let rank = 0; rank < ranks; rank++) most = Math.max(most, partStart[rank + 1] - partStart[rank])
  return most
}

/**
 * Checks that the arrays form a specification: lengths, ascending rows, blocks and reductions in range. Every reduction
 * must be over at least one rank, of one part, and, except in neighbor reductions, with each rank once.
 */
function checkSpecification(specification: Specification, found: ViolationList): boolean {
  const before = found.count
  const complain = (message: () => string): void =>
    found.add('structure', 0, null, () => `specification: ${message()}`)
  checkStarts(specification, complain)
  if (found.count > before) return false
  checkTerms(specification, complain)
  if (found.count > before) return false
  checkReductions(specification, complain)
  return found.count === before
}

type Complain = (message: () => string) => void

function checkStarts(
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
function ascendsFromZeroTo(starts: Int32Array, end: number | null): boolean {
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
