import { addToList, getOrAdd } from '../base/maps.js'
import { ANY_SOURCE, ANY_TAG } from '../messages/mailboxes/envelope.js'
import type { PointToPointWaits } from './diagnosis.js'
import { RangeList, rangesText, union } from './rank-ranges.js'

const mostLines = 32
/** The most groups of one kind of call that get a line each. */
const mostGroups = 8

/** Indents lines; those beyond the limit are only counted. */
export function limited(lines: readonly string[]): readonly string[] {
  const shown = lines.slice(0, mostLines).map((line) => `  ${line}`)
  return lines.length > mostLines ? [...shown, `  and ${lines.length - mostLines} more such lines`] : shown
}

/** A kind of call with its tag, and the ranks in it. */
interface Call {
  readonly communicator: string
  readonly call: PointToPointWaits['call']
  readonly site: string
  readonly tag: number
  readonly waits: (readonly [rank: number, worldRank: number, peer: number])[]
}

/**
 * Returns one line for all ranks that wait in the same call for the same rank, or each for the rank at the same offset.
 */
export function pointToPointLines(waits: readonly PointToPointWaits[]): string[] {
  const calls = new Map<string, Call>()
  for (const { communicator, call, site, words } of waits) {
    for (let i = 0; i < words.length; i += 4) {
      const tag = words[i + 3]
      const key = `${communicator} ${call} ${tag} ${site}`
      const found = getOrAdd(calls, key, () => ({ communicator, call, site, tag, waits: [] }))
      found.waits.push([words[i], words[i + 1], words[i + 2]])
    }
  }
  return [...calls.values()].flatMap(callLines)
}

function callLines({ communicator, call, site, tag, waits }: Call): string[] {
  waits.sort(([a], [b]) => a - b)
  // The ranks are grouped by peer or by offset from the waiting rank, whichever makes fewer groups.
  const byPeer = grouped(waits, ([, , peer]) => peer)
  const byOffset = grouped(waits, ([rank, , peer]) => (peer === ANY_SOURCE ? Number.NaN : peer - rank))
  const offsets = byOffset.size < byPeer.size
  const groups = [...(offsets ? byOffset : byPeer)].sort(([, a], [, b]) => b.length - a.length)
  const role = call === 'send' || call === 'ssend' ? 'dest' : 'source'
  const at = site === '' ? '' : `; called at ${site}`
  const lines = groups.slice(0, mostGroups).map(([key, members]) => {
    const alone = members.length === 1 ? members[0][2] : undefined
    const peer = offsets && alone === undefined ? offsetText(key) : peerText(alone ?? key)
    const said = `${call}(${role} ${peer}, tag ${tag === ANY_TAG ? 'any' : tag}) on ${communicator}`
    const count = new Set(members.map(([rank]) => rank)).size
    return `${whoText(members)} ${count === 1 ? 'waits' : 'wait'} in ${said}${at}`
  })
  const rest = groups.slice(mostGroups).reduce((sum, [, members]) => sum + members.length, 0)
  if (rest > 0)
    lines.push(`and ${rest} more in ${call} with tag ${tag === ANY_TAG ? 'any' : tag} on ${communicator}`)
  return lines
}

function peerText(peer: number): string {
  return peer === ANY_SOURCE ? 'any' : String(peer)
}

function offsetText(offset: number): string {
  if (Number.isNaN(offset)) return 'any'
  return offset === 0 ? 'rank itself' : `rank ${offset < 0 ? '-' : '+'} ${Math.abs(offset)}`
}

function whoText(members: readonly Call['waits'][number][]): string {
  const ranks = new RangeList()
  const worldRanks: number[] = []
  let previous = -1
  let sameNames = true
  for (const [rank, worldRank] of members) {
    if (rank === previous) continue
    previous = rank
    ranks.add(rank)
    if (rank !== worldRank) sameNames = false
    worldRanks.push(worldRank)
  }
  const text = rangesText(ranks.ranges)
  if (sameNames) return text
  const world = union(worldRanks.map((rank) => [rank, rank]))
  return `${text} (world ${rangesText(world)})`
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => number): Map<number, T[]> {
  const groups = new Map<number, T[]>()
  for (const item of items) addToList(groups, keyOf(item), item)
  return groups
}
