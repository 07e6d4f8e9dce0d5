import type { Communicator } from '../../comm/communicator.js'
import type { CommDescription } from '../../comm/describe.js'
import type { SplitOptions } from '../../comm/split/plan.js'
import { splitConventional } from '../../comm/split/sort-table.js'
import { colorsAndKeys, type SplitInput } from '../split-input.js'

export interface SplitProblem {
  readonly input: SplitInput
  readonly options: SplitOptions
}

/** What one process has to say, by its first rank. */
export interface SplitShare {
  /** Milliseconds since 1970: when its first rank called, and when its last one had its communicator. */
  readonly beganMs: number
  readonly endedMs: number
  /** Communicators whose rank 0 is here. */
  readonly leads: number
  /** One of the communicators with ranks here, the largest; null for none. */
  readonly largest: CommDescription | null
  readonly bytesKept: number
  readonly verified: boolean
}

/** What the ranks of a process put together, which share this module. */
interface Here {
  beganMs: number
  endedMs: number
  leads: number
  largest: CommDescription | null
  keptBytes: number
  sharedBytes: number
  verified: boolean
  /** By communicator: the others whom its ranks here want to find, which the first of them does for all. */
  readonly wanted: Map<number, number[]>
}

/** Every rank's place by the definition: size and rank of its communicator, -1 for none. */
interface Expected {
  readonly size: Int32Array
  readonly rank: Int32Array
  readonly groups: Int32Array
  readonly start: Int32Array
  readonly group: Int32Array
}

/** By world, which all its ranks of a thread were passed as one object, and process. */
const boards = new WeakMap<SplitProblem, Map<number, Here>>()
const expected = new WeakMap<SplitInput, Expected>()

/** The program of `rankweave split` on every rank. */
export default async function main(
  world: Communicator,
  problem: SplitProblem,
): Promise<SplitShare | undefined> {
  const { input, options } = problem
  const { process } = world.location
  const board = boards.get(problem) ?? new Map<number, Here>()
  boards.set(problem, board)
  const isFirst = !board.has(process)
  const all = board.get(process) ?? fresh()
  board.set(process, all)
  const { color, key } = colorsAndKeys(input, world.size)
  await world.barrier()
  all.beganMs = Math.min(all.beganMs, nowMs())
  const mine = color[world.rank]!
  const part = await world.split(mine < 0 ? null : mine, key[world.rank]!, options)
  all.endedMs = Math.max(all.endedMs, nowMs())
  await world.barrier()
  const places = placesOf(input, world.size)
  if (!isRight(part, world.rank, places)) all.verified = false
  const isSpeaker = part !== null && note(all, part, places.group[world.rank]!)
  await world.barrier()
  if (isSpeaker && !(await findsOthers(part, all, places, places.group[world.rank]!))) all.verified = false
  await world.barrier()
  if (!isFirst) return undefined
  const { beganMs, endedMs, leads, largest, verified } = all
  return { beganMs, endedMs, leads, largest, bytesKept: all.keptBytes + all.sharedBytes, verified }
}

function fresh(): Here {
  return {
    beganMs: Number.POSITIVE_INFINITY,
    endedMs: 0,
    leads: 0,
    largest: null,
    keptBytes: 0,
    sharedBytes: 0,
    verified: true,
    wanted: new Map(),
  }
}

/** Milliseconds that threads of one machine agree on. */
function nowMs(): number {
  return performance.timeOrigin + performance.now()
}

/** Counts a communicator once per process, and whom each of its ranks wants to find; true for the first of them. */
function note(all: Here, part: Communicator, group: number): boolean {
  if (part.rank === 0) all.leads++
  const other = (part.rank * 7919 + 1) % part.size
  const wanted = all.wanted.get(group)
  if (wanted !== undefined) {
    wanted.push(other)
    return false
  }
  all.wanted.set(group, [other])
  const description = part.describe()
  all.keptBytes += description.table.bytes
  all.sharedBytes = Math.max(all.sharedBytes, description.table.sharedBytes)
  if (all.largest === null || description.size > all.largest.size) all.largest = description
  return true
}

/** Size and rank by the definition. */
function isRight(part: Communicator | null, rank: number, places: Expected): boolean {
  if (part === null) return places.rank[rank] === -1
  return part.size === places.size[rank] && part.rank === places.rank[rank]
}

/** Whether look-ups lead to the members of the definition. */
async function findsOthers(part: Communicator, all: Here, places: Expected, group: number): Promise<boolean> {
  const wanted = all.wanted.get(group)!
  const found = await part.worldRanks(wanted)
  const start = places.start[group]!
  return wanted.every((other, i) => found[i] === places.groups[start + other])
}

function placesOf(input: SplitInput, ranks: number): Expected {
  const known = expected.get(input)
  if (known !== undefined) return known
  const { start, members } = splitConventional(colorsAndKeys(input, ranks))
  const size = new Int32Array(ranks).fill(-1)
  const rank = new Int32Array(ranks).fill(-1)
  const group = new Int32Array(ranks).fill(-1)
  for (let g = 0; g + 1 < start.length; g++) {
    for (let i = start[g]!; i < start[g + 1]!; i++) {
      size[members[i]!] = start[g + 1]! - start[g]!
      rank[members[i]!] = i - start[g]!
      group[members[i]!] = g
    }
  }
  const places = { size, rank, groups: members, start, group }
  expected.set(input, places)
  return places
}
