import { opKind, type Schedule } from '../ir.js'
import { blockCount, type Specification } from '../specification.js'
import { operationKind } from '../walk.js'
import { ascendsFromZeroTo, checkSpecification } from './verify-specification.js'
import type { ViolationList } from './violations.js'

/**
 * Whether the arrays form a schedule: lengths, ascending rows, and kinds, peers, tags, blocks and places in range. The
 * other checks rely on this one and are skipped when it fails.
 */
export function checkStructure(schedule: Schedule, specification: Specification, found: ViolationList): void {
  if (checkSpecification(specification, found) && checkRows(schedule, found)) {
    checkOperations(schedule, specification, found)
  }
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
  const { phases, opStart, opPhase, entryStart } = schedule
  const { ranks, ownStart, slotStart } = specification
  const ranges: Ranges = { places: 0, blocks: blockCount(specification), parts: mostParts(specification) }
  for (let rank = 0; rank < ranks; rank++) {
    const own = ownStart[rank + 1] - ownStart[rank]
    ranges.places = own + slotStart[rank + 1] - slotStart[rank] + schedule.staging[rank]
    for (let op = opStart[rank]; op < opStart[rank + 1]; op++) {
      const phase = opPhase[op]
      const kind = schedule.opKind[op]
      const peer = schedule.opPeer[op]
      const tag = schedule.opTag[op]
      const complain = (message: () => string): void =>
        found.add('structure', rank, phase, () => `operation ${op} of rank ${rank}: ${message()}`)
      const before = op === opStart[rank] ? 0 : opPhase[op - 1]
      if (phase < before || phase >= phases) {
        complain(() => `phases must ascend below ${phases}, got ${phase} after ${before}`)
      }
      if (kind > opKind.combine) {
        complain(() => `kind must be 0 (send), 1 (receive), 2 (copy) or 3 (combine), got ${kind}`)
        continue
      }
      const isLocal = kind >= opKind.copy
      if (isLocal ? peer !== -1 : peer < 0 || peer >= ranks) {
        const expected = isLocal ? '-1' : `a rank from 0 to ${ranks - 1}`
        complain(() => `the peer of a ${operationKind(schedule, op)} must be ${expected}, got ${peer}`)
      }
      if (isLocal ? tag !== 0 : tag < 0) complain(() => `tag ${tag} is out of range`)
      for (let e = entryStart[op]; e < entryStart[op + 1]; e++)
        checkEntry(schedule, kind, e, ranges, complain)
    }
  }
}

/** Numbers of a rank's places, of all blocks, and of the parts of the rank that has most. */
interface Ranges {
  places: number
  readonly blocks: number
  readonly parts: number
}

function checkEntry(
  { entryBlock, entryFrom, entryRight, entryTo }: Schedule,
  kind: number,
  e: number,
  { places, blocks, parts }: Ranges,
  complain: (message: () => string) => void,
): void {
  const block = entryBlock[e]
  const [from, to] = [entryFrom[e], entryTo[e]]
  const right = entryRight.length > 0 ? entryRight[e] : -1
  if (block < 0 ? ~block >= parts : block >= blocks || kind === opKind.combine) {
    if (block < 0) complain(() => `a part must be from 0 to ${parts - 1}, got ${~block}`)
    else if (block >= blocks) complain(() => `a block must be from 0 to ${blocks - 1}, got ${block}`)
    else complain(() => `a combination must name a part, got block ${block}`)
  }
  if (kind === opKind.receive ? from !== -1 : from < 0 || from >= places) {
    complain(() => `reads place ${from}, but the rank has places 0 to ${places - 1}`)
  }
  if (kind === opKind.combine ? right < 0 || right >= places : right !== -1) {
    complain(() => `has place ${right} as right operand, but the rank has places 0 to ${places - 1}`)
  }
  if (kind === opKind.send ? to !== -1 : to < 0 || to >= places) {
    complain(() => `writes place ${to}, but the rank has places 0 to ${places - 1}`)
  }
}

function mostParts({ partStart, ranks }: Specification): number {
  let most = 0
  for (let rank = 0; rank < ranks; rank++) most = Math.max(most, partStart[rank + 1] - partStart[rank])
  return most
}
