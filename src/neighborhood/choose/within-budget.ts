import type { Strategy } from '../plan/strategy.js'
import type { CandidateLoads, LoadedCandidate } from './candidate-loads.js'
import type { Unsimulated } from './choice.js'

/** A candidate and its estimated time. */
export interface Ranked extends LoadedCandidate {
  readonly estimatedUs: number
}

/** Why a candidate was not simulated. */
export type Because = Unsimulated['because']

/** Blocks that the candidates that are simulated move together, per unit of the budget; the first may move more. */
export const movesPerUnit = 2 ** 17

/**
 * Blocks that strategies with friend groups move together, and pairs that their searches for friends go through, per unit of the
 * budget.
 */
export const friendWorkPerUnit = 2 ** 16

/** What is planned and simulated, and what is not, though nothing that was is expected to be better. */
export interface Selection {
  /** Direct sends first. */
  readonly simulated: readonly Ranked[]
  /** By estimate, those with friend groups last. */
  readonly left: readonly { readonly ranked: Ranked; readonly because: Because }[]
}

/**
 * What a budget allows: direct sends, the best of the ordinary allgathers and the strategies with friend groups, as long as
 * their searches and plans are within bounds; besides them `budget` candidates, the best of every kind and then the next best, as long
 * as they move few enough blocks. An estimate errs more between kinds than within one.
 *
 * @param ranked direct sends first
 */
export function withinBudget(
  ranked: readonly Ranked[],
  budget: number,
  ranks: number,
  friendPairs: CandidateLoads['friendPairs'],
): Selection {
  const [direct, ...others] = ranked
  others.sort((a, b) => a.estimatedUs - b.estimatedUs || a.order - b.order)
  const simulated = direct === undefined ? [] : [direct]
  const left: { readonly ranked: Ranked; readonly because: Because }[] = []
  const allgather = others.find(({ candidate }) => candidate.strategy.kind === 'allgather')
  if (allgather !== undefined) simulated.push(allgather)

  let searched = 0
  let moves = 0
  for (const each of bestOfKindsFirst(others.filter(({ candidate }) => candidate.leastLoad === undefined))) {
    if (each === allgather) continue
    const more = movesOf(each, ranks)
    if (searched >= budget) left.push({ ranked: each, because: 'budget' })
    else if (searched > 0 && moves + more > budget * movesPerUnit)
      left.push({ ranked: each, because: 'moves' })
    else {
      simulated.push(each)
      searched++
      moves += more
    }
  }
  left.sort((a, b) => a.ranked.estimatedUs - b.ranked.estimatedUs || a.ranked.order - b.ranked.order)

  const withFriends = ranked.filter(({ candidate }) => candidate.leastLoad !== undefined)
  let gone = 0
  for (const each of withFriends) {
    const more = friendPairs[modeOf(each.candidate.strategy)] + movesOf(each, ranks)
    if (gone + more > budget * friendWorkPerUnit) left.push({ ranked: each, because: 'friends' })
    else {
      simulated.push(each)
      gone += more
    }
  }
  return { simulated, left }
}

function modeOf(strategy: Strategy): 'aware' | 'agnostic' {
  return 'mode' in strategy ? strategy.mode : 'agnostic'
}

/** @param ranked best first */
function bestOfKindsFirst(ranked: readonly Ranked[]): Ranked[] {
  const known = new Set<string>()
  const [first, others]: [Ranked[], Ranked[]] = [[], []]
  for (const each of ranked) {
    const { kind } = each.candidate.strategy
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
