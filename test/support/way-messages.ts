import type { ParticipantGrid } from '../../src/collective/patterns/participant-grid.js'
import type { GatherWay } from '../../src/collective/ways/way.js'
import { exchangesOf } from '../../src/collective/ways/way.js'
import { opKind, type Schedule } from '../../src/schedule/ir.js'

// What tests of collectives along a network's dimensions ask of ways and of their schedules.

/** A message of a schedule; of a reduction `blocks` are numbers of parts. */
export interface SentMessage {
  readonly phase: number
  readonly source: number
  readonly destination: number
  readonly blocks: readonly number[]
}

export function sentMessages(schedule: Schedule): readonly SentMessage[] {
  const { opStart, opKind: kinds, opPhase, opPeer, entryStart, entryBlock, specification } = schedule
  const found: SentMessage[] = []
  for (let source = 0; source < specification.ranks; source++)
    for (let op = opStart[source]; op < opStart[source + 1]; op++) {
      if (kinds[op] !== opKind.send) continue
      const entries = [...entryBlock.subarray(entryStart[op], entryStart[op + 1])]
      const blocks = entries.map((block) => (block < 0 ? ~block : block))
      found.push({ phase: opPhase[op], source, destination: opPeer[op], blocks })
    }
  return found
}

/** The most messages that a rank sends, or that it receives. */
export function mostPerRank(
  messages: readonly SentMessage[],
  end: 'source' | 'destination',
  ranks: number,
): number {
  const counts = new Int32Array(ranks)
  for (const message of messages) counts[message[end]]++
  return counts.reduce((most, count) => Math.max(most, count), 0)
}

/** Messages that a participant sends in all stages. */
export function sentAlong(ways: readonly GatherWay[], participant: number): number {
  return exchangesOf(ways, participant).filter(({ isSent }) => isSent).length
}

/** A torus, or a mesh, with a participant at every node. */
export function torusGrid(dims: readonly number[], isWrapped = true): ParticipantGrid {
  return { dims, wraps: dims.map(() => isWrapped) }
}

export function nodesOfGrid({ dims }: ParticipantGrid): number {
  return dims.reduce((product, extent) => product * extent, 1)
}

/** All permutations of a list. */
export function permutationsOf(items: readonly number[]): readonly (readonly number[])[] {
  if (items.length === 0) return [[]]
  return items.flatMap((item, i) => permutationsOf(items.toSpliced(i, 1)).map((rest) => [item, ...rest]))
}
