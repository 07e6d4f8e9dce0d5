import { addToList, getOrAdd } from '../base/maps.js'
import type { CommRuntime } from '../comm/comm-state.js'
import { ANY_SOURCE, ANY_TAG } from '../messages/mailboxes/envelope.js'
import { madeBy } from '../messages/process/comm-context.js'
import {
  type PointToPointWaits,
  pointToPointWaits,
  queuedLines,
  queuedMessages,
  RangeList,
  rangesText,
  union,
} from './diagnosis.js'

const maxRanges = 16

/** Reports which ranks wait for what, and which have finished, in the processes hosted here. */
export function reportWaits(runtimes: readonly CommRuntime[]): string {
  const ended = endedRanks(runtimes)
  // The line says `of the world`, because other lines may number the ranks of other communicators.
  const lines = ended === '' ? [] : [`  finished: ${ended} of the world`]
  return [...limited(waitLines(runtimes)), ...lines].join('\n')
}

/**
 * Returns lines that state which ranks wait for what. Ranks in the same point-to-point call share one; each collective
 * of each process has one.
 */
export function waitLines(runtimes: readonly CommRuntime[]): string[] {
  const contexts = runtimes.flatMap((runtime) => [...runtime.contexts])
  const waits = contexts.map(pointToPointWaits)
  const calls = contexts.map((state) => [
    ...state.collectives.describeWaits(),
    ...(state.openedSurvival?.describeWaits() ?? []),
  ])
  const named = contexts.filter((_, n) => waits[n].length + calls[n].length > 0)
  return [
    ...pointToPointLines(waits.flat()),
    ...queuedLines(contexts.flatMap(queuedMessages)),
    ...calls.flat(),
    // Every process of the communicator has the same line.
    ...new Set(named.flatMap((state) => madeBy(state) ?? [])),
  ]
}

/** Counts the ranks of `runtimes` that are blocked, that have finished, and that run user code. */
export function tally(runtimes: readonly CommRuntime[]): { blocked: number; ended: number; awake: number } {
  let ended = 0
  let awake = 0
  let ranks = 0
  for (const { waits, hostedRanks } of runtimes) {
    ranks += hostedRanks
    awake += waits.awakeRanks
    for (let index = 0; index < hostedRanks; index++) if (waits.hasEnded(index)) ended++
  }
  return { blocked: ranks - ended - awake, ended, awake }
}

function endedRanks(runtimes: readonly CommRuntime[]): string {
  const ranges: string[] = []
  let from = -1
  let to = -1
  const flush = () => {
    if (from >= 0) ranges.push(from === to ? `rank ${from}` : `ranks ${from} to ${to}`)
  }
  for (const { waits, firstRank, hostedRanks } of runtimes) {
    for (let index = 0; index < hostedRanks; index++) {
      if (!waits.hasEnded(index)) continue
      const rank = firstRank + index
      if (rank !== to + 1 || from < 0) {
        flush()
        from = rank
      }
      to = rank
    }
  }
  flush()
  const shown = ranges.slice(0, maxRanges)
  if (ranges.length > shown.length) shown.push(`and ${ranges.length - shown.length} more ranges`)
  return shown.join(', ')
}

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
