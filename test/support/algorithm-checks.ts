import { algorithms } from '../../src/collective/algorithms.js'
import type { Algorithm, Shape } from '../../src/collective/patterns/algorithm.js'
import { scheduleOf } from '../../src/collective/patterns/schedule-of.js'
import { opKind, type Schedule } from '../../src/schedule/ir.js'
import { pairMessages } from '../../src/schedule/message-pairs.js'
import { treeAssociation } from '../../src/schedule/verify/tree-association.js'
import { verify } from '../../src/schedule/verify/verify.js'
import { variantsAt } from './algorithm-variants.js'
import { interpretSchedule } from './schedule-interpreter.js'

/** The algorithms of the registry, and those with parameters also at other values, their bounds among them. */
export const variants: readonly Algorithm[] = algorithms.flatMap((each) => variantsAt(each, [2, 3, 5]))

/**
 * Shapes that an algorithm serves: with all roots of a rooted collective up to 9 ranks, three beyond; for
 * others the default.
 */
export function shapesOf(algorithm: Algorithm, ranks: number, segments: number): readonly Shape[] {
  return rootsOf(algorithm, ranks)
    .map((root) => ({ ranks, root, segments }))
    .filter((shape) => (algorithm.refuses?.(shape) ?? null) === null)
}

function rootsOf({ collective }: Algorithm, ranks: number): readonly number[] {
  if (!['bcast', 'scatter', 'gather', 'reduce'].includes(collective)) return [0]
  return ranks <= 9 ? [...Array(ranks).keys()] : [0, Math.floor(ranks / 2) + 1, ranks - 1]
}

/** Why a schedule of an algorithm is not what the algorithm claims; empty when it is. */
export function faultsOf(algorithm: Algorithm, shape: Shape): readonly string[] {
  const schedule = scheduleOf(algorithm, shape)
  const found: string[] = []
  const values = slotValues(schedule)
  values.forEach((slots, rank) => {
    slots.forEach((value, slot) => {
      const demanded = demandedBlocks(schedule, rank, slot)
      if (contributors(schedule, value) !== sorted(demanded)) {
        found.push(`slot ${slot} of rank ${rank} holds ${value}, not blocks ${demanded}`)
      }
    })
  })
  const { firstRank } = shape
  const { collective } = algorithm
  const treeOptions = firstRank === undefined ? { collective } : { collective, firstRank }
  const order = algorithm.order?.(shape)
  const { violations, isOrdered, association } = verify(schedule)
  found.push(...violations.map(({ message }) => message))
  if (isOrdered !== keepsRankOrder(schedule, values))
    found.push(`is ${isOrdered ? '' : 'not '}ordered for verify`)
  if (order !== undefined && order !== 'any' && !keepsRankOrder(schedule, values))
    found.push(`claims ${order}`)
  if (order === 'tree') {
    if (!followsTree(schedule, shape, values)) found.push('claims the tree')
    if (association !== treeAssociation(shape.ranks, treeOptions)) found.push('has no tree for verify')
  }
  if (!isAligned(schedule)) found.push('has a message in different phases at its ends')
  return found
}

/** What the slots of every rank hold after the schedule has run, e.g. `((0+1)+2)` for blocks 0, 1 and 2. */
export function slotValues(schedule: Schedule): readonly (readonly string[])[] {
  const { ownStart, ownBlock } = schedule.specification
  return interpretSchedule<string>(
    schedule,
    (rank, place) => `${ownBlock[ownStart[rank] + place]}`,
    (left, right) => `(${left}+${right})`,
  )
}

const blocksIn = (value: string): number[] => (value.match(/\d+/g) ?? []).map(Number)
const sorted = (blocks: readonly number[]): string => `${[...blocks].sort((a, b) => a - b)}`

function contributors({ specification }: Schedule, value: string): string {
  const blocks = blocksIn(value)
  return sorted(specification.reductions.isIdempotent ? [...new Set(blocks)] : blocks)
}

function demandedBlocks({ specification }: Schedule, rank: number, slot: number): readonly number[] {
  const { slotStart, slotTerm, reductions } = specification
  const term = slotTerm[slotStart[rank] + slot]
  if (term >= 0) return [term]
  const { runStart, first, count, stride } = reductions
  const blocks: number[] = []
  for (let run = runStart[~term]; run < runStart[~term + 1]; run++) {
    for (let n = 0; n < count[run]; n++) blocks.push(first[run] + n * stride[run])
  }
  return blocks
}

/** Whether every slot combines its contributors in the demanded order. */
export function keepsRankOrder(schedule: Schedule, values = slotValues(schedule)): boolean {
  return values.every((slots, rank) =>
    slots.every((value, slot) => `${blocksIn(value)}` === `${demandedBlocks(schedule, rank, slot)}`),
  )
}

/** The operations of a rank with their entries, for comparison. */
export function operationsOf(schedule: Schedule, rank: number): readonly (readonly number[])[] {
  const { opStart, opPhase, opKind: kinds, opPeer, opTag, entryStart } = schedule
  const rows: number[][] = []
  for (let op = opStart[rank]; op < opStart[rank + 1]; op++) {
    const row = [opPhase[op], kinds[op], opPeer[op], opTag[op], schedule.opAfter[op] ?? -1]
    for (let e = entryStart[op]; e < entryStart[op + 1]; e++) {
      // A schedule without combinations has no right operands.
      row.push(
        schedule.entryBlock[e],
        schedule.entryFrom[e],
        schedule.entryRight[e] ?? -1,
        schedule.entryTo[e],
      )
    }
    rows.push(row)
  }
  return rows
}

function isAligned(schedule: Schedule): boolean {
  const partner = pairMessages(schedule)
  return schedule.opPhase.every(
    (phase, op) => schedule.opKind[op] > opKind.receive || phase === schedule.opPhase[partner[op]],
  )
}

/**
 * Whether every total is associated like the tree over ranks; of a prefix, the largest nodes of it from the
 * left.
 */
export function followsTree(schedule: Schedule, shape: Shape, values = slotValues(schedule)): boolean {
  const { collective, partStart } = schedule.specification
  const parts = partStart[1]
  const known = new Map<string, string>()
  return values.every((slots, rank) =>
    slots.every((value, slot) => {
      const part = collective === 'reduce-scatter' ? rank * (shape.segments ?? 1) + slot : slot
      const key = collective.endsWith('scan') ? `${part} ${rank}` : `${part}`
      const leafOf = (participant: number): string => `${participant * parts + part}`
      if (!known.has(key)) known.set(key, demandedValue(collective, shape, rank, leafOf))
      return value === known.get(key)
    }),
  )
}

function demandedValue(
  collective: string,
  shape: Shape,
  rank: number,
  leafOf: (participant: number) => string,
): string {
  const { ranks, firstRank = Int32Array.from({ length: ranks + 1 }, (_, first) => first) } = shape
  const total = firstRank[ranks]
  if (!collective.endsWith('scan')) return treeValue(firstRank, 0, total, leafOf)
  // Up to the rank: the nodes that the digits of its first rank name, the largest first.
  let sum = ''
  for (let first = 0, end = firstRank[rank]; first < end; ) {
    let size = 1
    while (first % (2 * size) === 0 && first + 2 * size <= end) size *= 2
    const node = treeValue(firstRank, first, first + size, leafOf)
    sum = sum === '' ? node : `(${sum}+${node})`
    first += size
  }
  if (collective === 'exscan') return sum
  return sum === '' ? leafOf(rank) : `(${sum}+${leafOf(rank)})`
}

/** The value of the tree over the ranks from an aligned one to below another. */
function treeValue(
  firstRank: Int32Array,
  first: number,
  end: number,
  leafOf: (participant: number) => string,
): string {
  const participant = firstRank.indexOf(first)
  if (firstRank[participant + 1] >= end) return leafOf(participant)
  let half = 1
  while (2 * half < end - first) half *= 2
  const [left, right] = [
    treeValue(firstRank, first, first + half, leafOf),
    treeValue(firstRank, first + half, end, leafOf),
  ]
  return `(${left}+${right})`
}
