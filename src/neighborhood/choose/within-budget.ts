import type { Strategy } from '../strategies/strategy.js'
import type { CandidateLoads, LoadedCandidate } from './candidate-loads.js'
import type { ChosenOperation, Unsimulated } from './choice.js'

/** A candidate and its estimated time. */
export interface Ranked extends LoadedCandidate {
  readonly estimatedUs: number
}

/** Why a candidate was not simulated. */
export type Because = Unsimulated['because']

/**
 * Blocks that the candidates that are simulated move together, per unit of the budget; the first may move
 * more.
 */
export const movesPerUnit = 2 ** 17

/**
 * Allgathers that are simulated, per unit of the budget. Those that are planned are fewer, as is what is
 * simulated of other operations: one.
 */
export const simulatedPerUnit = 4

/**
 * Strategies similar to the fastest that are simulated, per unit of the budget, and the blocks that they move
 * together.
 */
export const similarPerUnit = 8
export const similarMovesPerUnit = 2 ** 16

/**
 * Blocks that strategies with friend groups move together, and pairs that their searches for friends go
 * through, per unit of the budget.
 */
export const friendWorkPerUnit = 2 ** 16

/** What is simulated, and what is not, though nothing that was is expected to be better. */
export interface Selection {
  /** The best of the ordinary allgathers; null without any. */
  readonly allgather: Ranked | null
  /** The others that are routes, but for direct sends. */
  readonly routes: readonly Ranked[]
  readonly withFriends: readonly Ranked[]
  /** By estimate, those with friend groups last. */
  readonly left: readonly { readonly ranked: Ranked; readonly because: Because }[]
}

/**
 * What a budget allows: the best of the ordinary allgathers and the strategies with friend groups, as long as
 * their searches and plans are within bounds; besides them {@link simulatedPerUnit} candidates per unit, the
 * best of every kind and then the next best, as long as they move few enough blocks. An estimate errs more
 * between kinds than within one.
 *
 * @param ranked without direct sends
 */
export function withinBudget(
  ranked: readonly Ranked[],
  { budget, operation }: { readonly budget: number; readonly operation: ChosenOperation },
  ranks: number,
  friendPairs: CandidateLoads['friendPairs'],
): Selection {
  const others = ranked.toSorted((a, b) => a.estimatedUs - b.estimatedUs || a.order - b.order)
  const left: { readonly ranked: Ranked; readonly because: Because }[] = []
  const allgather = others.find(({ candidate }) => candidate.strategy.kind === 'allgather') ?? null

  const most = budget * (operation === 'neighbor-allgather' ? simulatedPerUnit : 1)
  const routes: Ranked[] = []
  let moves = 0
  for (const each of bestOfKindsFirst(
    others.filter(({ candidate }) => candidate.leastLoad === undefined),
    ({ candidate }) => candidate.strategy.kind,
  )) {
    if (each === allgather) continue
    const more = movesOf(each, ranks)
    if (routes.length >= most) left.push({ ranked: each, because: 'budget' })
    else if (routes.length > 0 && moves + more > budget * movesPerUnit)
      left.push({ ranked: each, because: 'moves' })
    else {
      routes.push(each)
      moves += more
    }
  }
  left.sort((a, b) => a.ranked.estimatedUs - b.ranked.estimatedUs || a.ranked.order - b.ranked.order)

  const withFriends: Ranked[] = []
  let gone = 0
  for (const each of ranked.filter(({ candidate }) => candidate.leastLoad !== undefined)) {
    const more = friendPairs[modeOf(each.candidate.strategy)] + movesOf(each, ranks)
    if (gone + more > budget * friendWorkPerUnit) left.push({ ranked: each, because: 'friends' })
    else {
      withFriends.push(each)
      gone += more
    }
  }
  return { allgather, routes, withFriends, left }
}

function modeOf(strategy: Strategy): 'aware' | 'agnostic' {
  return 'mode' in strategy ? strategy.mode : 'agnostic'
}

/** The first of every kind, then the others. @param all best first */
export function bestOfKindsFirst<T>(all: readonly T[], kindOf: (each: T) => string): T[] {
  const known = new Set<string>()
  const [first, others]: [T[], T[]] = [[], []]
  for (const each of all) {
    const kind = kindOf(each)
    if (known.has(kind)) others.push(each)
    else first.push(each)
    known.add(kind)
  }
  return [...first, ...others]
}

/** Blocks that all ranks send. */
function movesOf({ load }: Ranked, ranks: number): number {
  return ranks * load.reduce((sum, { blocks }) => sum + blocks[0] + blocks[1], 0)
}
