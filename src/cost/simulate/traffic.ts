import { type Level, levels } from '../../machine/profile.js'
import { opKind } from '../../schedule/ir.js'
import type { LoweredSchedule } from '../../schedule/lower/program.js'
import { operationsOfRank } from '../../schedule/walk.js'
import type { BytesOf } from './block-lengths.js'
import type { Costs } from './costs.js'
import type { FrameTable } from './frame-table.js'
import type { Traffic } from './simulation.js'

/** Returns the messages between processes, and their payload by the level over which they travel. */
export function sentIn(traffic: Readonly<Record<Level, Traffic>>): {
  readonly messages: number
  readonly bytes: Readonly<Record<Level, number>>
} {
  const { process, package: near, node, network } = traffic
  return {
    messages: near.messages + node.messages + network.messages,
    bytes: { process: process.bytes, package: near.bytes, node: node.bytes, network: network.bytes },
  }
}

/** Returns the frames by level; level `process` has the messages of the schedule that no frame carries. */
export function trafficOf(
  frames: FrameTable,
  costs: Costs,
  lowered: LoweredSchedule,
  bytesOf: BytesOf,
): Readonly<Record<Level, Traffic>> {
  return { ...trafficOfFrames(frames, costs), process: messagesInside(lowered, bytesOf) }
}

export function trafficOfFrames(
  { bytes }: Pick<FrameTable, 'bytes'>,
  { level }: Pick<Costs, 'level'>,
): Readonly<Record<Level, Traffic>> {
  const messages = levels.map(() => 0)
  const sums = levels.map(() => 0)
  for (let f = 0; f < bytes.length; f++) {
    messages[level[f]]++
    sums[level[f]] += bytes[f]
  }
  const of = (at: number): Traffic => ({ messages: messages[at], bytes: sums[at] })
  return { process: of(0), package: of(1), node: of(2), network: of(3) }
}

/** Returns the messages between ranks of one process. */
function messagesInside({ schedule, placement, programs }: LoweredSchedule, bytesOf: BytesOf): Traffic {
  if (programs.every(({ counts }) => counts.messagesInside === 0)) return { messages: 0, bytes: 0 }
  const { opPeer, entryStart, entryBlock } = schedule
  let messages = 0
  let bytes = 0
  for (let rank = 0; rank < placement.length; rank++) {
    const [first, end] = operationsOfRank(schedule, rank)
    for (let op = first; op < end; op++) {
      if (schedule.opKind[op] !== opKind.send || placement[opPeer[op]] !== placement[rank]) continue
      messages++
      for (let e = entryStart[op]; e < entryStart[op + 1]; e++) bytes += bytesOf(entryBlock[e])
    }
  }
  return { messages, bytes }
}
