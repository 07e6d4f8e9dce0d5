import { formatAlgorithm } from '../../src/collective/algorithm-text.js'
import { algorithms } from '../../src/collective/algorithms.js'
import type { Algorithm } from '../../src/collective/patterns/algorithm.js'
import { variantsOf } from './algorithm-variants.js'
import {
  allCasesOf,
  allRootsOf,
  type CollectiveCase,
  casesOf,
  collectives,
  nameOf,
  rootsOf,
} from './collective-cases.js'
import { mixed, unitOf } from './collective-data.js'
import { type Cut, refusalOf } from './refusals.js'

type Collective = (typeof collectives)[number]

/**
 * Which communicators of a world are walked through: of 1 to so many ranks, spread evenly over all processes.
 */
export interface Walk {
  readonly processes: number
  readonly mostRanks: number
  /** Ranks of a process follow one another, or are dealt like cards. */
  readonly order: 'blocks' | 'dealt'
  /**
   * `turns`: every case by every algorithm with all its parameters; segments take turns. `all`: with all of
   * them, and all roots. A number: so many calls of every collective, drawn from these. Default `turns`.
   */
  readonly calls?: 'turns' | 'all' | number
  /** The one number of ranks, and the one collective, to which it is limited. */
  readonly only?: { readonly ranks: number; readonly collective: Collective }
}

/** A case, and how it is called. */
export interface WalkedCall {
  readonly given: CollectiveCase
  /** Undefined: the default. */
  readonly algorithm: Algorithm | undefined
  readonly options: CallOptions
  readonly isInPlace: boolean
  /** With which message it is refused; null where it is carried out. */
  readonly refusal: string | null
}

/** Says all of a call. */
export function nameOfCall({ given, options, isInPlace }: WalkedCall): string {
  const { algorithm = 'default', segments = 'no' } = options
  return `${algorithm}, ${segments} segments, ${nameOf(given)}${isInPlace ? ', in place' : ''}`
}

export interface CallOptions {
  readonly algorithm?: string
  readonly segments?: number
  readonly order?: 'any'
}

/** Numbers of ranks of the communicators of a walk. */
export function rankCountsOf({ mostRanks, only }: Walk): readonly number[] {
  return Array.from({ length: mostRanks }, (_, n) => n + 1).filter(
    (ranks) => ranks === (only?.ranks ?? ranks),
  )
}

export const collectivesOf = ({ only }: Walk): readonly Collective[] =>
  collectives.filter((collective) => collective === (only?.collective ?? collective))

/**
 * The calls of a collective on a communicator, in the same order on all ranks.
 *
 * @param hosts process of every rank
 */
export function callsOf(walk: Walk, hosts: readonly number[], collective: Collective): readonly WalkedCall[] {
  const key = `${hosts} ${collective} ${walk.calls}`
  let calls = latest.get(key)
  if (calls === undefined) {
    calls = madeCalls(walk, hosts, collective)
    // All ranks of a process walk through the same, some a step ahead.
    if (latest.size >= 3) latest.clear()
    latest.set(key, calls)
  }
  return calls
}

const latest = new Map<string, readonly WalkedCall[]>()

function madeCalls(
  { calls = 'turns' }: Walk,
  hosts: readonly number[],
  collective: Collective,
): readonly WalkedCall[] {
  if (calls === 'turns') return turnsOf(hosts, collective)
  const all = allOf(hosts, collective)
  if (calls === 'all') return all.map((each, n) => called(hosts, each, drawn(2, hosts.length, n) === 1))
  const draw = (n: number, of: number) => drawn(of, hosts.length, collectives.indexOf(collective), n)
  return Array.from({ length: calls }, (_, n) =>
    called(hosts, all[draw(2 * n, all.length)], draw(2 * n + 1, 2) === 1),
  )
}

/** A number from 0 to below the first that follows from the others. */
const drawn = (below: number, ...numbers: readonly number[]): number => (mixed(...numbers) >>> 0) % below

type Choice = Pick<WalkedCall, 'given' | 'algorithm'> & { readonly cut: Cut }

/** Elements of the segments that are given in bytes: they do not divide blocks of 5 and 11. */
const segmentElements = 3

/** Every case by every algorithm and the default; segments take turns. */
function turnsOf(hosts: readonly number[], collective: Collective): readonly WalkedCall[] {
  const ranks = hosts.length
  return rootsOf(collective, ranks).flatMap((root) =>
    casesOf(collective, ranks, root).flatMap((given, n) =>
      methodsOf(hosts, collective).map((algorithm, m) => {
        const turn = ranks + root + n + m
        const cuts = cutsOf(given, algorithm, [1, 2, 3, 7])
        return called(hosts, { given, algorithm, cut: cuts[turn % cuts.length] }, turn % 8 >= 4)
      }),
    ),
  )
}

/** Every case by every algorithm with all segments; calls that share a plan follow one another. */
function allOf(hosts: readonly number[], collective: Collective): readonly Choice[] {
  return allRootsOf(collective, hosts.length).flatMap((root) => {
    const cases = allCasesOf(collective, hosts.length, root)
    return methodsOf(hosts, collective).flatMap((algorithm) =>
      cases
        .flatMap((given) => cutsOf(given, algorithm, [1, 3]).map((cut) => ({ given, algorithm, cut })))
        .sort((a, b) => (a.cut.segments ?? 0) - (b.cut.segments ?? 0)),
    )
  })
}

/** The default, and every algorithm with all its parameters. */
function methodsOf(hosts: readonly number[], collective: Collective): readonly (Algorithm | undefined)[] {
  const participants = new Set(hosts).size
  const ofCollective = algorithms.filter((algorithm) => algorithm.collective === collective)
  return [undefined, ...ofCollective.flatMap((algorithm) => variantsOf(algorithm, participants))]
}

/** How an algorithm can cut the data of a case. An operation of matrices takes whole arrays. */
function cutsOf(
  { content }: CollectiveCase,
  algorithm: Algorithm | undefined,
  segments: readonly number[],
): readonly Cut[] {
  if (algorithm === undefined) return [{}]
  const elementBytes = content === 'doubles' || content === 'wholes' ? 8 : 4
  return content === 'matrices'
    ? [{ segments: 1 }, { segmentBytes: 100 * unitOf(content) * elementBytes }]
    : [...segments.map((count) => ({ segments: count })), { segmentBytes: segmentElements * elementBytes }]
}

function called(hosts: readonly number[], { given, algorithm, cut }: Choice, isInPlace: boolean): WalkedCall {
  const { segments, segmentBytes } = cut
  const order = given.content === 'wholes' ? ({ order: 'any' } as const) : {}
  const text = algorithm === undefined ? {} : { algorithm: textOfCut(algorithm, segmentBytes) }
  const options = { ...text, ...(segments === undefined ? {} : { segments }), ...order }
  const refusal = algorithm === undefined ? null : refusalOf(hosts, given, algorithm, cut)
  return { given, algorithm, options, isInPlace, refusal }
}

const textOfCut = (algorithm: Algorithm, segmentBytes: number | undefined): string =>
  formatAlgorithm(segmentBytes === undefined ? { algorithm } : { algorithm, segmentBytes })

/** The process of every rank of the communicator of so many ranks. */
export function hostsOf(walk: Walk, ranks: number): readonly number[] {
  const worldRanks = walk.processes * Math.ceil(walk.mostRanks / walk.processes)
  return Array.from({ length: worldRanks }, (_, worldRank) => placeOf(walk, ranks, worldRank))
    .filter(({ isMember }) => isMember)
    .sort((a, b) => a.key - b.key)
    .map(({ process }) => process)
}

/** Where a rank of the world is, and whether it is in the communicator of so many ranks. */
export function placeOf({ processes, mostRanks, order }: Walk, ranks: number, worldRank: number) {
  const perProcess = Math.ceil(mostRanks / processes)
  const process = Math.floor(worldRank / perProcess)
  const place = worldRank % perProcess
  const share = (of: number) => Math.floor((of * ranks) / processes)
  const isMember = place < share(process + 1) - share(process)
  const key = order === 'blocks' ? worldRank : place * processes + process
  return { process, isMember, key }
}
