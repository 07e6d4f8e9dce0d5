import type { Communicator } from '../../comm/communicator.js'
import type { CommDescription, SplitReport } from '../../comm/describe.js'
import type { SplitOptions } from '../../comm/split/plan.js'
import { colorsAndKeys, type SplitInput } from '../split-input.js'
import { type Places, placesByDefinition } from '../split-oracle.js'

export interface SplitProblem {
  readonly input: SplitInput
  readonly options: SplitOptions
}

/** What one process has to say, by the last of its ranks to get its communicator. */
export interface SplitShare {
  /** Milliseconds since 1970: when its first rank called, and when its last one had its communicator. */
  readonly beganMs: number
  readonly endedMs: number
  readonly split: SplitReport
  /** Communicators whose rank 0 is here. */
  readonly leads: number
  /** One of the communicators with ranks here, the largest; null for none. */
  readonly largest: CommDescription | null
  readonly bytesKept: number
  readonly verified: boolean
}

/** What the ranks of a process put together, which share this module. */
class Here {
  beganMs = 0
  /** Those of its ranks that have yet to get theirs. */
  waiting = 0
  /** By rank less the first one here. */
  readonly parts: (Communicator | null)[] = []
  readonly firstRank: number

  constructor(firstRank: number) {
    this.firstRank = firstRank
  }
}

/** By world, which all its ranks of a thread were passed as one object, and process. */
const boards = new WeakMap<SplitProblem, Map<number, Here>>()

/** The program of `rankweave split` on every rank. The last rank of a process to get its communicator checks them all. */
export default async function main(
  world: Communicator,
  problem: SplitProblem,
): Promise<SplitShare | undefined> {
  const { rank } = world
  const here = boardOf(world, problem)
  here.waiting++
  const { color, key } = colorsAndKeys(problem.input, world.size)
  await world.barrier()
  if (here.beganMs === 0) here.beganMs = nowMs()
  const mine = color[rank]!
  const part = await world.split(mine < 0 ? null : mine, key[rank]!, problem.options)
  here.parts[rank - here.firstRank] = part
  if (--here.waiting > 0) return undefined
  return shareOf(world, here, nowMs(), problem.input)
}

/** Mains begin in the order of their ranks. */
function boardOf(world: Communicator, problem: SplitProblem): Here {
  let board = boards.get(problem)
  if (board === undefined) {
    board = new Map()
    boards.set(problem, board)
  }
  const { process } = world.location
  let here = board.get(process)
  if (here === undefined) {
    here = new Here(world.rank)
    board.set(process, here)
  }
  return here
}

/** Milliseconds that threads of one machine agree on. */
function nowMs(): number {
  return performance.timeOrigin + performance.now()
}

async function shareOf(
  world: Communicator,
  here: Here,
  endedMs: number,
  input: SplitInput,
): Promise<SplitShare> {
  const { beganMs, parts, firstRank } = here
  const places = placesOf(input, world.size)
  const split = world.describe().lastSplit!
  const areRight = parts.every((part, i) => isRight(part, firstRank + i, places))
  const finds: Promise<boolean>[] = []
  let leads = 0
  let largest: CommDescription | null = null
  let keptBytes = 0
  let sharedBytes = 0
  for (const [group, members] of membersHere(parts, firstRank, places)) {
    const [speaker] = members as [Communicator]
    if (members.some(({ rank }) => rank === 0)) leads++
    const description = speaker.describe()
    keptBytes += description.table.bytes
    sharedBytes = Math.max(sharedBytes, description.table.sharedBytes)
    if (largest === null || description.size > largest.size) largest = description
    finds.push(findsOthers(speaker, members, group, places))
  }
  const verified = (await Promise.all(finds)).every((found) => found) && areRight
  return { beganMs, endedMs, split, leads, largest, bytesKept: keptBytes + sharedBytes, verified }
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
