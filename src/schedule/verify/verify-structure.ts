import { opKind, type Schedule } from '../ir.js'
import { blockCount, type Specification } from '../specification.js'
import { operationKind } from '../walk.js'
import type { ViolationList } from './violations.js'

/**
 * Whether the arrays form a schedule: lengths, ascending rows, and kinds, peers, tags, blocks and places in range. The
 * other checks rely on this one and are skipped when it fails.
 */
export function checkStructure(schedule: Schedule, specification: Specification, found: ViolationList): void {
  if (checkRows(schedule, found)) checkOperations(schedule, specification, found)
}

function checkRows(schedule: Schedule, found: ViolationList): boolean {
  const { phases, specification, staging, opStart, entryStart } = schedule
  const ops = schedule.opKind.length
  const entries = schedule.entryBlock.length
  const lengths: readonly (readonly [string, number, number])[] = [
    ['staging', staging.length, specification.ranks],
    ['opStart', opStart.length, specification.ranks + 1],
    ['opPhase', schedule.opPhase.length, ops],
    ['opPeer', schedule.opPeer.length, ops],
    ['opTag', schedule.opTag.length, ops],
    ['entryStart', entryStart.length, ops + 1],
    ['entryFrom', schedule.entryFrom.length, entries],
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

function ascendsFromZeroTo(starts: Int32Array, end: number): boolean {
  for (let i = 1; i < starts.length; i++) if (starts[i] < starts[i - 1]) return false
  return starts[0] === 0 && starts[starts.length - 1] === end
}

function checkOperations(schedule: Schedule, specification: Specification, found: ViolationList): void {
  const { phases, opStart, opPhase, entryStart, entryBlock, entryFrom, entryTo } = schedule
  const { ranks, ownStart, slotStart } = specification
  const blocks = blockCount(specification)
  for (let rank = 0; rank < ranks; rank++) {
    const own = ownStart[rank + 1] - ownStart[rank]
    const places = own + slotStart[rank + 1] - slotStart[rank] + schedule.staging[rank]
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
      if (kind > opKind.copy) {
        complain(() => `kind must be 0 (send), 1 (receive) or 2 (copy), got ${kind}`)
        continue
      }
      const isCopy = kind === opKind.copy
      if (isCopy ? peer !== -1 : peer < 0 || peer >= ranks) {
        const expected = isCopy ? '-1' : `a rank from 0 to ${ranks - 1}`
        complain(() => `the peer of a ${operationKind(schedule, op)} must be ${expected}, got ${peer}`)
      }
      if (isCopy ? tag !== 0 : tag < 0) complain(() => `tag ${tag} is out of range`)
      for (let e = entryStart[op]; e < entryStart[op + 1]; e++) {
        const block = entryBlock[e]
        const [from, to] = [entryFrom[e], entryTo[e]]
        if (block < 0 || block >= blocks) {
          complain(() => `a block must be from 0 to ${blocks - 1}, got ${block}`)
        }
        if (kind === opKind.receive ? from !== -1 : from < 0 || from >= places) {
          complain(() => `reads place ${from}, but the rank has places 0 to ${places - 1}`)
        }
        if (kind === opKind.send ? to !== -1 : to < 0 || to >= places) {
          complain(() => `writes place ${to}, but the rank has places 0 to ${places - 1}`)
        }
      }
    }
  }
}
