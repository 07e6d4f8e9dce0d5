import type { Communicator } from '../../comm/communicator.js'
import type { CommDescription, SplitReport } from '../../comm/context/describe.js'
import type { SplitOptions } from '../../comm/context/split/plan/split-plan.js'
import type { LookupStatistics } from '../../comm/table/distributed-table.js'
import { colorsAndKeys, type SplitInput } from '../input/split-input.js'
import { type Places, placesByDefinition } from '../output/split-oracle.js'

export interface SplitProblem {
  readonly input: SplitInput
  readonly options: SplitOptions
}

/** What one process has to say, by its first rank. */
export interface SplitShare {
  /** Milliseconds since 1970: when its first rank called, and when its last one had its communicator. */
  readonly beganMs: number
  readonly endedMs: number
  readonly split: SplitReport
  /** Communicators whose rank 0 is here. */
  readonly leads: number
  /** One of the communicators with ranks here, the largest; null for none. */
  readonly largest: CommDescription | null
  /** What the checks have looked up; null where no table is distributed. */
  readonly lookups: LookupStatistics | null
  readonly bytesKept: number
  readonly verified: boolean
}

/** The ranks of a process, which share this module. */
interface Here {
  /** In the order of their ranks, which follow each other. */
  readonly worlds: Communicator[]
  readonly share: Promise<SplitShare>
  /** What all but the first return. */
  readonly over: Promise<undefined>
}

/** By world, which all its ranks of a thread were passed as one object, and process. */
const boards = new WeakMap<SplitProblem, Map<number, Here>>()

/**
 * The program of `rankweave split` on every rank. One function calls for all ranks of a process: a million functions that
 * wait would cost more than what is to be seen.
 */
export default function main(
  world: Communicator,
  problem: SplitProblem,
): Promise<SplitShare> | Promise<undefined> {
  let board = boards.get(problem)
  if (board === undefined) {
    board = new Map()
    boards.set(problem, board)
  }
  const { process } = world.location
  const here = board.get(process)
  if (here !== undefined) {
    here.worlds.push(world)
    return here.over
  }
  const worlds = [world]
  // All mains of a process begin in one go.
  const share = Promise.resolve().then(() => splitAll(worlds, problem))
  board.set(process, { worlds, share, over: share.then(() => undefined) })
  return share
}

/** Every rank here splits. */
async function splitAll(
  worlds: readonly Communicator[],
  { input, options }: SplitProblem,
): Promise<SplitShare> {
  const [first] = worlds as [Communicator]
  const { color, key } = colorsAndKeys(input, first.size)
  const barriers = new Set(worlds.map((world) => world.barrier()))
  await Promise.all(barriers)
  const beganMs = nowMs()
  const calls = worlds.map((world) => {
    const mine = color[world.rank]!
    return world.split(mine < 0 ? null : mine, key[world.rank]!, options)
  })
  const parts: (Communicator | null)[] = []
  for (const call of calls) parts.push(await call)
  const endedMs = nowMs()
  return { beganMs, endedMs, ...(await checked(first, parts, input)) }
}

/** Milliseconds that threads of one machine agree on. */
function nowMs(): number {
  return performance.timeOrigin + performance.now()
}

/** What all ranks here found, and whether it is right. @param parts of the ranks from `first` on */
async function checked(
  first: Communicator,
  parts: readonly (Communicator | null)[],
  input: SplitInput,
): Promise<Omit<SplitShare, 'beganMs' | 'endedMs'>> {
  const firstRank = first.rank
  const places = placesOf(input, first.size)
  const split = first.describe().lastSplit!
  const areRight = parts.every((part, i) => isRight(part, firstRank + i, places))
  const finds: Promise<boolean>[] = []
  let leads = 0
  let largest: Communicator | null = null
  let spread: Communicator | null = null
  let keptBytes = 0
  let sharedBytes = 0
  for (const [group, members] of membersHere(parts, firstRank, places)) {
    const [speaker] = members as [Communicator]
    if (members.some(({ rank }) => rank === 0)) leads++
    const { table } = speaker.describe()
    keptBytes += table.bytes
    sharedBytes = Math.max(sharedBytes, table.sharedBytes)
    if (table.kind === 'distributed') spread = speaker
    if (largest === null || speaker.size > largest.size) largest = speaker
    finds.push(findsOthers(speaker, members, group, places))
  }
  const verified = (await Promise.all(finds)).every((found) => found) && areRight
  return {
    split,
    leads,
    largest: largest?.describe() ?? null,
    lookups: spread?.describe().table.lookups ?? null,
    bytesKept: keptBytes + sharedBytes,
    verified,
  }
}

/** Size and rank by the definition. */
function isRight(part: Communicator | null, rank: number, { group, start, rank: place }: Places): boolean {
  const g = group[rank]!
  if (part === null || g < 0) return part === null && g < 0
  return part.size === start[g + 1]! - start[g]! && part.rank === place[rank]
}

/** The ranks here by group. */
function membersHere(
  parts: readonly (Communicator | null)[],
  firstRank: number,
  { group }: Places,
): Map<number, Communicator[]> {
  const members = new Map<number, Communicator[]>()
  parts.forEach((part, i) => {
    if (part === null) return
    const g = group[firstRank + i]!
    const others = members.get(g)
    if (others === undefined) members.set(g, [part])
    else others.push(part)
  })
  return members
}

/** Whether look-ups, one for each member here, lead to the members of the definition. */
async function findsOthers(
  speaker: Communicator,
  members: readonly Communicator[],
  group: number,
  { start, members: expected }: Places,
): Promise<boolean> {
  const wanted = Int32Array.from(members, ({ rank }) => (rank * 7919 + 1) % speaker.size)
  const found = await speaker.worldRanks(wanted)
  return wanted.every((other, i) => found[i] === expected[start[group]! + other])
}

/** Made once per thread. */
const known = new WeakMap<SplitInput, Places>()

function placesOf(input: SplitInput, ranks: number): Places {
  let places = known.get(input)
  if (places === undefined) {
    const { color, key } = colorsAndKeys(input, ranks)
    places = placesByDefinition(color, key)
    known.set(input, places)
  }
  return places
}
