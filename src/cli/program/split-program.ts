import { addToList, getOrAdd } from '../../base/maps.js'
import { seededRandom } from '../../base/random.js'
import type { CommDescription, SplitReport } from '../../comm/describe.js'
import type { SplitOptions } from '../../comm/split/split-plan.js'
import type { LookupStatistics } from '../../comm/table/distributed-table.js'
import type { Communicator } from '../../handles/communicator.js'
import { together } from '../../handles/communicator.js'

/** The source of colors and keys: this many colors in turn with random keys, or lists by rank, color -1 for none. */
export type SplitInput =
  | { readonly kind: 'generated'; readonly colors: number }
  | { readonly kind: 'listed'; readonly color: Int32Array; readonly key: Int32Array }

interface ColorsAndKeys {
  readonly color: Int32Array
  readonly key: Int32Array
}

/** The problem of {@link splitProblem}; every process of a thread is passed the same object. */
export interface SplitProblem {
  readonly input: SplitInput
  readonly options: SplitOptions
  readonly thread: ThreadState
}

/** The state that the processes of one thread share. It is empty when the problem is cloned to the threads. */
interface ThreadState {
  /** Colors, keys and expected places, made by the first process that needs them. */
  expected: { readonly given: ColorsAndKeys; readonly places: ExpectedPlaces } | null
}

export function splitProblem(input: SplitInput, options: SplitOptions): SplitProblem {
  return { input, options, thread: { expected: null } }
}

/** The report of one process, as the result of its first rank. */
export interface SplitShare {
  /** The milliseconds since 1970 when its first rank called; below, when its last one had its communicator. */
  readonly beganMs: number
  readonly endedMs: number
  readonly split: SplitReport
  /** The number of communicators whose rank 0 is in this process. */
  readonly leads: number
  /** The largest communicator with ranks in this process; null for none. */
  readonly largest: CommDescription | null
  /** The lookups of the checks; null if no table is distributed. */
  readonly lookups: LookupStatistics | null
  readonly retainedBytes: number
  readonly verified: boolean
}

/** Runs `rankweave split` if each process hosts one rank. */
export default async function main(world: Communicator, problem: SplitProblem): Promise<SplitShare> {
  return shareOf([world], problem)
}

/** Runs `rankweave split` once per process: a million waiting functions would cost more than the split. */
export async function hosted(
  worlds: readonly Communicator[],
  problem: SplitProblem,
): Promise<(SplitShare | undefined)[]> {
  const results = new Array<SplitShare | undefined>(worlds.length).fill(undefined)
  results[0] = await shareOf(worlds, problem)
  return results
}

async function shareOf(worlds: readonly Communicator[], problem: SplitProblem): Promise<SplitShare> {
  const [first] = worlds as [Communicator]
  const { given, places } = expectedOf(problem, first.size)
  const colors = worlds.map(({ rank }) => (given.color[rank] < 0 ? null : given.color[rank]))
  const keys = worlds.map(({ rank }) => given.key[rank])
  await together(worlds, (world) => world.barrier())
  const beganMs = nowMs()
  const parts = await together(worlds, (world, k) => world.split(colors[k], keys[k], problem.options))
  const endedMs = nowMs()
  return { beganMs, endedMs, ...(await checked(first, parts, places)) }
}

/** Returns milliseconds of a clock that the threads of one machine share. */
function nowMs(): number {
  return performance.timeOrigin + performance.now()
}

/** Compares the results of all ranks of a process with the expected ones. @param parts of the ranks from `first` on */
async function checked(
  first: Communicator,
  parts: readonly (Communicator | null)[],
  places: ExpectedPlaces,
): Promise<Omit<SplitShare, 'beganMs' | 'endedMs'>> {
  const firstRank = first.rank
  const split = first.describe().lastSplit!
  const areRight = parts.every((part, i) => isRight(part, firstRank + i, places))
  const finds: Promise<boolean>[] = []
  let leads = 0
  let largest: Communicator | null = null
  let spread: Communicator | null = null
  let ownBytes = 0
  let sharedBytes = 0
  for (const [group, members] of membersHere(parts, firstRank, places)) {
    const [speaker] = members as [Communicator]
    if (members.some(({ rank }) => rank === 0)) leads++
    const { table, retained } = speaker.describe()
    ownBytes += retained.total - retained.sharedTable
    sharedBytes = Math.max(sharedBytes, retained.sharedTable)
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
    retainedBytes: ownBytes + sharedBytes,
    verified,
  }
}

/** Returns whether size and rank are those of the definition. */
function isRight(
  part: Communicator | null,
  rank: number,
  { group, start, rank: place }: ExpectedPlaces,
): boolean {
  const g = group[rank]
  if (part === null || g < 0) return part === null && g < 0
  return part.size === start[g + 1] - start[g] && part.rank === place[rank]
}

/** Returns the ranks of a process by group. */
function membersHere(
  parts: readonly (Communicator | null)[],
  firstRank: number,
  { group }: ExpectedPlaces,
): Map<number, Communicator[]> {
  const members = new Map<number, Communicator[]>()
  parts.forEach((part, i) => {
    if (part === null) return
    const g = group[firstRank + i]
    addToList(members, g, part)
  })
  return members
}

/** Returns whether lookups, one for each member of this process, find the members of the definition. */
async function findsOthers(
  speaker: Communicator,
  members: readonly Communicator[],
  group: number,
  { start, members: expected }: ExpectedPlaces,
): Promise<boolean> {
  const wanted = Int32Array.from(members, ({ rank }) => (rank * 7919 + 1) % speaker.size)
  const found = await speaker.worldRanks(wanted)
  return wanted.every((other, i) => found[i] === expected[start[group] + other])
}

function expectedOf({ input, thread }: SplitProblem, ranks: number): NonNullable<ThreadState['expected']> {
  if (thread.expected === null) {
    const given = colorsAndKeys(input, ranks)
    thread.expected = { given, places: placesByDefinition(given.color, given.key) }
  }
  return thread.expected
}

function colorsAndKeys(input: SplitInput, ranks: number): ColorsAndKeys {
  if (input.kind === 'listed') return input
  const draw = seededRandom(ranks)
  const color = new Int32Array(ranks)
  const key = new Int32Array(ranks)
  for (let rank = 0; rank < ranks; rank++) {
    color[rank] = rank % input.colors
    key[rank] = Math.floor((draw() - 0.5) * 2 ** 32)
  }
  return { color, key }
}

/** The result of a split for every rank. */
interface ExpectedPlaces {
  /** Group g, one per color in the order of their first ranks: `members[start[g] .. start[g + 1] - 1]` in new order. */
  readonly start: Int32Array
  readonly members: Int32Array
  /** The group of each rank; below, its rank there. -1 for none. */
  readonly group: Int32Array
  readonly rank: Int32Array
}

/**
 * Splits by MPI's definition: equal colors together, ordered by key, ties by rank; color -1 for none. Shares no code
 * with the splits that it checks. Time: O(n lg n). Key and rank of a member are one number, exact since a world has at
 * most 2^22 ranks. The engine sorts those of each color.
 */
export function placesByDefinition(color: Int32Array, key: Int32Array): ExpectedPlaces {
  const ranks = color.length
  const { group, start } = groupsOf(color)
  const ordered = new Float64Array(start[start.length - 1])
  const next = start.slice()
  for (let rank = 0; rank < ranks; rank++) {
    const g = group[rank]
    if (g >= 0) ordered[next[g]++] = key[rank] * ranks + rank
  }
  const members = new Int32Array(ordered.length)
  const place = new Int32Array(ranks).fill(-1)
  for (let g = 0; g + 1 < start.length; g++) {
    const from = start[g]
    const to = start[g + 1]
    if (to - from > 1) ordered.subarray(from, to).sort()
    for (let at = from; at < to; at++) {
      const rank = ((ordered[at] % ranks) + ranks) % ranks
      members[at] = rank
      place[rank] = at - from
    }
  }
  return { start, members, group, rank: place }
}

function groupsOf(color: Int32Array): Pick<ExpectedPlaces, 'group' | 'start'> {
  const groupOf = new Map<number, number>()
  const sizes: number[] = []
  const group = color.map((each) => {
    if (each < 0) return -1
    const g = getOrAdd(groupOf, each, () => sizes.push(0) - 1)
    sizes[g]++
    return g
  })
  const start = new Int32Array(sizes.length + 1)
  for (let g = 0; g < sizes.length; g++) start[g + 1] = start[g] + sizes[g]
  return { group, start }
}
