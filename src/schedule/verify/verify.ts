import type { ProcessTopology } from '../../topology/process-topology.js'
import type { Schedule } from '../ir.js'
import { pairMessages } from '../message-pairs.js'
import type { ScheduleSlice } from '../schedule-slice.js'
import { phaseRows, rankOfOperations } from '../walk.js'
import { checkContents } from './verify-contents.js'
import { checkMessages } from './verify-messages.js'
import { checkProgress } from './verify-progress.js'
import { checkStructure } from './verify-structure.js'
import { type Verification, ViolationList } from './violations.js'

export interface VerifyOptions {
  /** Most violations to describe; the others are only counted. Default 100. */
  readonly limit?: number
}

/**
 * Decides whether a schedule does what its collective demands: every send has its receive and both name the same
 * blocks in the same order, every read finds its block, no place is written twice, every slot ends with exactly its
 * block, no delivery is unused, and no rank waits forever even if a send completes only after its receive is posted.
 * Pure; time and memory linear in operations and entries.
 *
 * @param topology the topology that the schedule must be for; by default its own.
 */
export function verify(
  schedule: Schedule,
  topology: ProcessTopology | null = schedule.topology,
  options: VerifyOptions = {},
): Verification {
  const found = new ViolationList(options.limit ?? 100)
  const difference = topologyDifference(schedule.topology, topology)
  if (difference !== null) {
    found.add('topology-differs', 0, null, () => difference)
    return found.verification()
  }
  const { specification } = schedule
  checkStructure(schedule, specification, found)
  if (found.count > 0) return found.verification()

  const ranks = rankOfOperations(schedule)
  const partner = pairMessages(schedule, ranks)
  checkMessages(schedule, ranks, partner, found)
  checkContents(schedule, specification, found)
  checkProgress(schedule, phaseRows(schedule), partner, found)
  return found.verification()
}

/**
 * Decides what can be decided of a slice: all that {@link verify} checks of single ranks, and of messages whose two
 * ranks are both in the slice. `unproven` names the rest; it is empty when the slice has all ranks.
 */
export function verifySlice(slice: ScheduleSlice, options: VerifyOptions = {}): Verification {
  const { schedule, ranks } = slice
  const found = new ViolationList(options.limit ?? 100)
  const { specification } = schedule
  checkStructure(schedule, specification, found)
  if (found.count > 0) return found.verification()

  const isPresent = new Uint8Array(specification.ranks)
  for (const rank of ranks) isPresent[rank] = 1
  const rankOf = rankOfOperations(schedule)
  const partner = pairMessages(schedule, rankOf)
  const skipped = checkMessages(schedule, rankOf, partner, found, isPresent)
  checkContents(schedule, specification, found, ranks)
  checkProgress(schedule, phaseRows(schedule), partner, found)
  if (ranks.length === specification.ranks) return found.verification()
  return found.verification([
    `${skipped} messages with ranks outside the slice: whether they are matched, and with the same blocks`,
    'freedom from deadlock: ranks outside the slice may be part of a cycle of waits',
    ...(slice.topologyHash === null
      ? []
      : [`the topology: its hash ${slice.topologyHash} is over the lists of all ranks`]),
  ])
}

function topologyDifference(actual: ProcessTopology | null, expected: ProcessTopology | null): string | null {
  if (actual === expected || expected === null) return null
  if (actual === null) return 'the schedule has no topology'
  if (actual.ranks !== expected.ranks) {
    return `the schedule is for ${actual.ranks} ranks, the topology has ${expected.ranks}`
  }
  if (actual.pairing !== expected.pairing) {
    return `the schedule pairs parallel edges by ${actual.pairing}, the topology by ${expected.pairing}`
  }
  for (let rank = 0; rank < actual.ranks; rank++) {
    if (!sameRow(actual.outStart, actual.outRank, expected.outStart, expected.outRank, rank)) {
      return `rank ${rank} sends to other ranks in the schedule than in the topology`
    }
    if (!sameRow(actual.inStart, actual.inRank, expected.inStart, expected.inRank, rank)) {
      return `rank ${rank} receives from other ranks in the schedule than in the topology`
    }
  }
  return null
}

function sameRow(aStart: Int32Array, a: Int32Array, bStart: Int32Array, b: Int32Array, row: number): boolean {
  const length = aStart[row + 1] - aStart[row]
  if (bStart[row + 1] - bStart[row] !== length) return false
  for (let i = 0; i < length; i++) if (a[aStart[row] + i] !== b[bStart[row] + i]) return false
  return true
}
