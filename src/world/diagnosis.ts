import { addToList, getOrAdd } from '../base/maps.js'
import { type CallPlace, sitesOf } from '../calls/matching/call-report.js'
import { plainLane } from '../calls/matching/lane.js'
import { describeSignature } from '../calls/signature.js'
import type { CommRuntime, CommState } from '../comm/comm-state.js'
import { ANY_SOURCE, ANY_TAG } from '../messages/mailboxes/envelope.js'
import type { Mailbox } from '../messages/mailboxes/mailbox.js'
import { Receive, Send } from '../messages/mailboxes/pending-operation.js'
import { communicatorText, madeBy, rankText } from '../messages/process/comm-context.js'

/** The waits of the ranks of one process, as plain data that crosses threads. */
export interface ProcessState {
  readonly process: number
  /** The world ranks that run user code or await something outside the library. */
  readonly running: Ranges
  readonly ended: Ranges
  readonly waits: readonly PointToPointWaits[]
  readonly queued: readonly QueuedMessages[]
  readonly collectives: readonly CollectiveState[]
}

interface PointToPointWaits {
  readonly communicator: string
  readonly call: 'send' | 'ssend' | 'recv' | 'probe' | 'mprobe'
  /** The line of the program that made the call; empty unless the world diagnoses. */
  readonly site: string
  /** Four words for each wait: the rank, its world rank, the rank that it waits for, the tag. */
  readonly words: Int32Array
}

/**
 * The progress of the ranks of one process in the collectives of one communicator, or of one persistent operation on
 * it.
 */
export interface CollectiveState {
  readonly communicator: string
  readonly size: number
  /** The lane: 0, the number of a persistent operation, or {@link survivorLane}. */
  readonly lane: number
  /** Runs of ranks that have made the same number of calls, as the communicator and as the world numbers them. */
  readonly progress: readonly {
    readonly ranks: Ranges
    readonly worldRanks: Ranges
    readonly calls: number
  }[]
  /** The calls that some rank here has made and that are not complete here. */
  readonly open: readonly OpenCollective[]
}

/** The lane under which calls of `agree` and `shrink` are counted. */
export const survivorLane = -1

export interface OpenCollective {
  /** The position of the call among those of every rank, from 0. */
  readonly seq: number
  readonly call: string
  /** The lines of the program that made the call, with the ranks of each; none unless the world diagnoses. */
  readonly places: readonly CallPlace[]
  /** The world processes whose data are awaited; none until all ranks here have called. */
  readonly awaited: readonly number[]
}

/**
 * Returns the state of a process at present. O(ranks here + pending operations + ranks of communicators that span
 * processes).
 */
export function stateOf(runtime: CommRuntime): ProcessState {
  const { waits, firstRank, hostedRanks } = runtime
  const running = new RangeList()
  const ended = new RangeList()
  for (let index = 0; index < hostedRanks; index++) {
    if (waits.hasEnded(index)) ended.add(firstRank + index)
    else if (!waits.isBlocked(index)) running.add(firstRank + index)
  }
  const contexts = [...runtime.contexts]
  return {
    process: runtime.process,
    running: running.ranges,
    ended: ended.ranges,
    waits: contexts.flatMap(pointToPointWaits),
    queued: contexts.flatMap(queuedMessages),
    collectives: contexts.flatMap((state) => [...collectives(state), ...survivorCalls(state)]),
  }
}

function pointToPointWaits(state: CommState): PointToPointWaits[] {
  return waitsOf(state, state.openedMatching?.awaited() ?? [])
}

/** Returns operations that have not ended, those of the same call and line together. */
export function waitsOf(
  state: CommState,
  operations: Iterable<Send | Receive<unknown>>,
): PointToPointWaits[] {
  const found = new Map<string, { call: PointToPointWaits['call']; site: string; words: number[] }>()
  for (const operation of operations) {
    const { rank, worldRank } = operation.owner
    const sends = operation instanceof Send
    const call: PointToPointWaits['call'] = sends
      ? operation.synchronous
        ? 'ssend'
        : 'send'
      : operation.kind
    const site = operation.site?.text ?? ''
    const { words } = getOrAdd(found, `${call} ${site}`, () => ({ call, site, words: [] }))
    words.push(rank, worldRank, sends ? operation.dest : operation.source, operation.tag)
  }
  return [...found.values()].map(({ call, site, words }) => ({
    communicator: communicatorText(state),
    call,
    site,
    words: Int32Array.from(words),
  }))
}

function collectives(state: CommState): CollectiveState[] {
  const found: CollectiveState[] = []
  for (const lane of state.collectives.lanes) {
    const open: OpenCollective[] = []
    for (const slot of lane.slots.values()) {
      const { seq, call, exchange } = slot
      if (call === undefined) continue
      const awaited = (exchange?.awaited() ?? []).map((index) => state.processes.processes.at(index))
      open.push({ seq, call: describeSignature(call.signature), places: sitesOf(state, slot), awaited })
    }
    // The lane concerns no other process, and no rank waits for it.
    if (open.length === 0 && state.processes.count === 1) continue
    found.push({
      communicator: communicatorText(state),
      size: state.size,
      lane: lane.id,
      progress: progressOf(state, lane.next),
      open,
    })
  }
  // Other processes may wait for ranks here that have not called anything yet.
  if (state.processes.count > 1 && !found.some(({ lane }) => lane === plainLane)) {
    const progress = progressOf(state, new Uint32Array(state.localRanks.length))
    found.push({
      communicator: communicatorText(state),
      size: state.size,
      lane: plainLane,
      progress,
      open: [],
    })
  }
  return found
}

/**
 * Returns the calls of `agree` and `shrink`. Their numbers are meaningless on communicators where no rank has called
 * them.
 */
function survivorCalls(state: CommState): CollectiveState[] {
  const { openedSurvival: survival, processes, localRanks, size } = state
  if (survival === undefined && processes.count === 1) return []
  const next = survival?.calls ?? new Int32Array(localRanks.length)
  const open = (survival?.open ?? []).map(({ seq, kind }) => ({
    seq,
    call: `${kind}()`,
    places: [],
    awaited: [],
  }))
  const progress = progressOf(state, next)
  return [{ communicator: communicatorText(state), size, lane: survivorLane, progress, open }]
}

function progressOf(state: CommState, next: Uint32Array | Int32Array): CollectiveState['progress'] {
  const byCalls = new Map<number, { ranks: RangeList; worldRanks: number[] }>()
  state.localRanks.forEach((rank, localIndex) => {
    const same = getOrAdd(byCalls, next[localIndex], () => ({ ranks: new RangeList(), worldRanks: [] }))
    same.ranks.add(rank)
    same.worldRanks.push(state.worldRank(localIndex))
  })
  return [...byCalls].map(([calls, { ranks, worldRanks }]) => {
    const world = new RangeList()
    for (const worldRank of worldRanks.sort((a, b) => a - b)) world.add(worldRank)
    return { ranks: ranks.ranges, worldRanks: world.ranges, calls }
  })
}

/** The most ranks with queued messages that one communicator reports, and the most messages of each that are named. */
const [mostRanks, mostMessages] = [8, 4]

/** The messages that have arrived for a rank, and that no receive of it takes. */
export interface QueuedMessages {
  readonly communicator: string
  readonly rank: number
  readonly worldRank: number
  readonly count: number
  readonly first: readonly (readonly [source: number, tag: number])[]
}

/** Returns the queued messages of the ranks of this process that wait in a receive or a probe, in rank order. */
function queuedMessages(state: CommState): QueuedMessages[] {
  const matching = state.openedMatching
  const waiting = new Set<number>()
  for (const operation of matching?.awaited() ?? [])
    if (operation instanceof Receive) waiting.add(operation.owner.rank)
  return queuedFor(
    state,
    Array.from(waiting, (rank) => matching!.mailbox(rank)),
  )
}

/** Returns the queued messages of these mailboxes, in rank order. */
export function queuedFor(state: CommState, mailboxes: readonly Mailbox[]): QueuedMessages[] {
  const queued: QueuedMessages[] = []
  for (const { rank, worldRank, arrived } of [...mailboxes].sort((a, b) => a.rank - b.rank)) {
    if (arrived.size === 0) continue
    const first: [number, number][] = []
    for (const { source, tag } of arrived) if (first.push([source, tag]) === mostMessages) break
    queued.push({ communicator: communicatorText(state), rank, worldRank, count: arrived.size, first })
    if (queued.length === mostRanks) break
  }
  return queued
}

/** @param untaken by no receive: by those that wait, or by any */
export function queuedLines(
  queued: readonly QueuedMessages[],
  untaken = { one: 'its receive does not take', several: 'its receives do not take' },
): string[] {
  return queued.map(({ communicator, rank, worldRank, count, first }) => {
    const named = first.map(([source, tag]) => `source ${source}, tag ${tag}`).join('; ')
    const more = count > first.length ? `; and ${count - first.length} more` : ''
    const what = count === 1 ? `a message that ${untaken.one}` : `${count} messages that ${untaken.several}`
    return `${rankText(rank, worldRank)} has ${what} on ${communicator}: ${named}${more}`
  })
}

/** Ascending ranks as the first and last of each run, alternating. */
export type Ranges = readonly number[]

class RangeList {
  readonly #ranges: number[] = []

  get ranges(): Ranges {
    return this.#ranges
  }

  add(rank: number): void {
    this.addRun(rank, rank)
  }

  /** Adds a run; `first` is beyond everything that was added before. */
  addRun(first: number, last: number): void {
    const ranges = this.#ranges
    const end = ranges.length - 1
    if (end > 0 && ranges[end] === first - 1) ranges[end] = last
    else ranges.push(first, last)
  }
}

export function countOf(ranges: Ranges): number {
  let count = 0
  for (let i = 0; i < ranges.length; i += 2) count += ranges[i + 1] - ranges[i] + 1
  return count
}

/** Returns the ranks of disjoint lists. */
export function union(lists: readonly Ranges[]): Ranges {
  const runs: (readonly [first: number, last: number])[] = []
  for (const ranges of lists) for (let i = 0; i < ranges.length; i += 2) runs.push([ranges[i], ranges[i + 1]])
  runs.sort(([a], [b]) => a - b)
  const all = new RangeList()
  for (const [first, last] of runs) all.addRun(first, last)
  return all.ranges
}

/** Returns the distance of at least four single ranks that are equally far apart; otherwise 0. */
function strideOf(ranges: Ranges): number {
  const stride = ranges.length < 8 ? 0 : ranges[2] - ranges[0]
  for (let i = 0; i < ranges.length; i += 2) {
    if (ranges[i] !== ranges[i + 1] || (i > 0 && ranges[i] - ranges[i - 2] !== stride)) return 0
  }
  return stride
}

/** The most runs that are named; of the others only the number of ranks is given. */
const mostRuns = 8

/** Returns `rank 3`, or `ranks 0-3, 7`. */
export function rangesText(ranges: Ranges): string {
  const stride = strideOf(ranges)
  if (stride > 0) return `ranks ${ranges[0]}-${ranges.at(-1)} by ${stride}`
  const parts: string[] = []
  const shown = ranges.slice(0, 2 * mostRuns)
  for (let i = 0; i < shown.length; i += 2) {
    parts.push(shown[i] === shown[i + 1] ? `${shown[i]}` : `${shown[i]}-${shown[i + 1]}`)
  }
  const more = countOf(ranges) - countOf(shown)
  if (more > 0) parts.push(`${more} more`)
  return `${ranges.length === 2 && ranges[0] === ranges[1] ? 'rank' : 'ranks'} ${parts.join(', ')}`
}

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
