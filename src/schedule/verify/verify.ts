import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { wrongValue } from '../../errors.js'
import { type ProcessTopology, requireTopology } from '../../topology/process-topology.js'
import { opKind, type Schedule, type ScheduleSlice } from '../ir.js'
import { pairMessages } from '../message-pairs.js'
import { requireSchedule } from '../require-schedule.js'
import {
  isNeighborCollective,
  isSameSpecification,
  neighborSpecification,
  type Specification,
  upTo,
} from '../specification.js'
import { phaseRows, rankOfOperations } from '../walk.js'
import { checkSlots } from './check-slots.js'
import { followTerms } from './follow-terms.js'
import { checkProgress } from './verify-progress.js'
import { checkStructure } from './verify-structure.js'
import { type Verification, ViolationList } from './violations.js'

export interface VerifyOptions {
  /** The most violations to describe; the others are only counted. Default 100. */
  readonly limit?: number
  /**
   * Whether reductions must combine their contributors in the demanded order, which operations that are not commutative
   * need. Default false.
   */
  readonly ordered?: boolean
}

const knownOptions: OptionTable<VerifyOptions> = uncheckedOptions('limit', 'ordered')

/**
 * Decides whether a schedule does what its collective demands. Every send has its receive and both name the same blocks
 * in the same order. Every read finds its block, and no place is written twice. Every slot ends with exactly its block,
 * or with the reduction of exactly its contributors, each combined in once. No delivery is unused, and no rank waits
 * forever even if a send completes only after its receive is posted.
 *
 * Partial results are followed as terms through messages, copies and combinations, so the result also shows the order
 * and association of contributors (`isOrdered`, `association`).
 *
 * Pure. Time and memory are linear in the specification, operations and entries, except for slots whose contributors
 * are not consecutive ranks. Those take O(demanded contributors) for each different term, and in a barrier
 * O(combinations).
 *
 * @param topology the topology that the schedule must be for; by default its own.
 * @throws ERR_SCHEDULE, ERR_TOPOLOGY, ERR_ARGUMENT for values that are not a schedule, topology or options
 */
export function verify(
  schedule: Schedule,
  topology?: ProcessTopology | null,
  options: VerifyOptions = {},
): Verification {
  requireSchedule(schedule)
  const expected = topology === undefined ? schedule.topology : topology
  if (expected !== null) requireTopology(expected)
  requireKnownOptions('verify', options, knownOptions)
  const found = new ViolationList(options.limit ?? 100)
  const difference = topologyDifference(schedule, expected)
  if (difference !== null) {
    found.add('topology-differs', 0, null, () => difference)
    return found.verification()
  }
  checkStructure(schedule, schedule.specification, found)
  if (found.count > 0) return found.verification()
  const { isOrdered, association } = prove(schedule, null, options, found)
  return found.verification({ isOrdered, association })
}

/**
 * Decides what can be decided of a slice: everything that {@link verify} checks of single ranks, and of messages whose
 * two ranks are both in the slice. A partial result from another rank is assumed to be of its part, whatever it
 * combines. `unproven` names the rest; it is empty when the slice has all ranks.
 */
export function verifySlice(slice: ScheduleSlice, options: VerifyOptions = {}): Verification {
  requireKnownOptions('verifySlice', options, knownOptions)
  const { schedule, ranks } = Object(slice) as ScheduleSlice
  requireSchedule(schedule)
  if (!(ranks instanceof Int32Array)) throw wrongValue('ERR_SCHEDULE', 'expected the ranks of a slice', ranks)
  const { specification } = schedule
  const found = new ViolationList(options.limit ?? 100)
  checkStructure(schedule, specification, found)
  if (found.count > 0) return found.verification()

  const isWhole = ranks.length === specification.ranks
  const proof = prove(schedule, ranks, options, found)
  if (isWhole) return found.verification(proof)
  const { skipped, unknown } = proof
  const unproven = [
    `${skipped} messages with ranks outside the slice: whether they are matched, and with the same blocks`,
    'freedom from deadlock: ranks outside the slice may be part of a cycle of waits',
  ]
  if (slice.topologyHash !== null)
    unproven.push(`the topology: its hash ${slice.topologyHash} is over the lists of all ranks`)
  if (unknown > 0) unproven.push(`${unknown} partial results from ranks outside the slice: what they combine`)
  return found.verification({ isOrdered: proof.isOrdered && unknown === 0, unproven })
}

interface Proof {
  readonly isOrdered: boolean
  readonly association: string | null
  /** The number of messages with ranks outside the slice. */
  readonly skipped: number
  /** The number of partial results from such ranks. */
  readonly unknown: number
}

/** @param present the ranks of a slice; null for all */
function prove(
  schedule: Schedule,
  present: Int32Array | null,
  { ordered = false }: VerifyOptions,
  found: ViolationList,
): Proof {
  const { ranks } = schedule.specification
  const isPresent = present === null ? null : new Uint8Array(ranks)
  if (isPresent !== null) for (const rank of present!) isPresent[rank] = 1
  const rankOf = rankOfOperations(schedule)
  const partner = pairMessages(schedule, rankOf)
  const skipped = checkMessages(schedule, rankOf, partner, found, isPresent)
  const rows = phaseRows(schedule)
  const order = checkProgress(schedule, rows, partner, found)
  const contents = followTerms(schedule, rows, order, partner, found)
  const slots = checkSlots(schedule, contents, present ?? upTo(ranks), ordered, found)
  return { ...slots, skipped, unknown: contents.unknownReceived }
}

function topologyDifference(schedule: Schedule, expected: ProcessTopology | null): string | null {
  const actual = schedule.topology
  if (actual !== null && !demandsNeighbors(schedule.specification, actual))
    return `the specification is not that of a ${nameOf(schedule.specification)} over the topology`
  if (actual === expected || expected === null) return null
  if (actual === null) return 'the schedule has no topology'
  if (actual.ranks !== expected.ranks)
    return `the schedule is for ${actual.ranks} ranks, the topology has ${expected.ranks}`
  if (actual.pairing !== expected.pairing)
    return `the schedule pairs parallel edges by ${actual.pairing}, the topology by ${expected.pairing}`
  for (let rank = 0; rank < actual.ranks; rank++) {
    if (!sameRow(actual.outStart, actual.outRank, expected.outStart, expected.outRank, rank))
      return `rank ${rank} sends to other ranks in the schedule than in the topology`
    if (!sameRow(actual.inStart, actual.inRank, expected.inStart, expected.inRank, rank))
      return `rank ${rank} receives from other ranks in the schedule than in the topology`
  }
  return null
}

/** Whether the specification of a schedule with a topology follows from the topology. */
function demandsNeighbors(specification: Specification, topology: ProcessTopology): boolean {
  const { collective } = specification
  if (!isNeighborCollective(collective)) return false
  return isSameSpecification(specification, neighborSpecification(collective, topology))
}

function nameOf({ collective }: Specification): string {
  return isNeighborCollective(collective) ? collective.replace('-', ' ') : 'neighbor allgather'
}

function sameRow(aStart: Int32Array, a: Int32Array, bStart: Int32Array, b: Int32Array, row: number): boolean {
  const length = aStart[row + 1] - aStart[row]
  if (bStart[row + 1] - bStart[row] !== length) return false
  for (let i = 0; i < length; i++) if (a[aStart[row] + i] !== b[bStart[row] + i]) return false
  return true
}

/**
 * Checks that every send has its receive and that both name the same blocks in the same order.
 *
 * @param ranks the rank of every operation
 * @param isPresent the ranks that a slice has; messages with others are skipped. Null for all.
 * @returns the number of skipped messages
 */
function checkMessages(
  schedule: Schedule,
  ranks: Int32Array,
  partner: Int32Array,
  found: ViolationList,
  isPresent: Uint8Array | null = null,
): number {
  const { entryStart, entryBlock, opPeer, opPhase, opTag } = schedule
  let passedOver = 0
  for (let op = 0; op < partner.length; op++) {
    const kind = schedule.opKind[op]
    if (kind > opKind.receive) continue
    const rank = ranks[op]
    const phase = opPhase[op]
    const other = partner[op]
    if (other === -1) {
      if (isPresent?.[opPeer[op]] === 0) {
        passedOver++
        continue
      }
      const message = `with tag ${opTag[op]} in phase ${phase}`
      if (kind === opKind.send) {
        found.add(
          'send-unmatched',
          rank,
          phase,
          () => `rank ${rank} sends rank ${opPeer[op]} a message ${message}, which is never received`,
        )
      } else {
        found.add(
          'receive-unmatched',
          rank,
          phase,
          () => `rank ${rank} expects from rank ${opPeer[op]} a message ${message}, which is never sent`,
        )
      }
      continue
    }
    if (kind === opKind.receive) continue // the sender reports it, once
    const length = entryStart[op + 1] - entryStart[op]
    let same = entryStart[other + 1] - entryStart[other] === length
    for (let i = 0; same && i < length; i++) {
      same = entryBlock[entryStart[op] + i] === entryBlock[entryStart[other] + i]
    }
    if (same) continue
    found.add('blocks-differ', rank, phase, () => {
      const sent = blocksOf(schedule, op)
      const expected = blocksOf(schedule, other)
      return `rank ${rank} sends blocks ${sent} to rank ${opPeer[op]} with tag ${opTag[op]}, but rank ${opPeer[op]} expects blocks ${expected}`
    })
  }
  return passedOver
}

function blocksOf(schedule: Schedule, op: number): string {
  const blocks = schedule.entryBlock.subarray(schedule.entryStart[op], schedule.entryStart[op + 1])
  const shown = Array.from(blocks.subarray(0, 8)).join(', ')
  return `[${shown}${blocks.length > 8 ? `, ... ${blocks.length} in all` : ''}]`
}
