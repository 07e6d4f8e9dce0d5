import type { GroupingMessage } from './grouping-messages.js'
import type { KnownFriends } from './known-friends.js'
import { areAscending } from './source-lists.js'

/** The knowledge against which a rank checks a round's messages. */
export interface RoundKnowledge {
  readonly rank: number
  readonly ranks: number
  readonly k: number
  readonly theta: number
  readonly friends: KnownFriends
}

/** Reports whether a message has exactly the fields that its kind has. */
export function isWellFormed({ kind, round, wave, ranks }: GroupingMessage): boolean {
  if (kind === 'sources' || kind === 'direct')
    return round === -1 && wave === 0 && (kind === 'sources' || ranks.length === 0)
  if (round < 0) return false
  if (kind === 'served') return wave === 0 && ranks.length === 1
  if (kind === 'bye') return wave === 0 && ranks.length === 0
  return wave >= 1
}

/**
 * Returns what is wrong with a friend's proposal, or null. A correct one names a group of the friend, this rank and
 * common friends with enough common destinations. It is no heavier than the one that the friend proposed before.
 *
 * @param before the members it proposed last in this round
 */
export function proposalFault(
  { rank, k, theta, friends }: RoundKnowledge,
  friend: number,
  members: Int32Array,
  before: Int32Array | undefined,
): string | null {
  const othersOf = (group: Int32Array): Int32Array =>
    group.filter((member) => member !== rank).map((member) => friends.indexOf(member))
  const others = othersOf(members)
  const isGroup = members.length === k && others.length === k - 1 && areAscending(members)
  if (!isGroup || !others.includes(friend) || others.includes(-1))
    return `a proposal of ranks ${members.join(', ')}`
  const weight = friends.common(others).length
  if (weight <= theta) return `a proposal of a group with ${weight} common destinations`
  if (before === undefined) return null
  const isRepeated = before.every((member, i) => member === members[i])
  return isRepeated || friends.common(othersOf(before)).length < weight ? 'proposals out of order' : null
}

/**
 * Returns what is wrong with the destinations that a friend's group serves from this round on, or null. The friend must
 * have sent to all of them until now.
 *
 * @param removed their ranks; empty without a group
 * @param places those of them that are destinations of this rank, and that no group of this rank serves
 */
export function removalFault(
  { ranks, theta, friends }: RoundKnowledge,
  friend: number,
  removed: Int32Array,
  places: Iterable<number>,
): string | null {
  if (removed.length === 0) return null
  const isSet = areAscending(removed) && removed[0] >= 0 && removed.at(-1)! < ranks
  if (removed.length <= theta || !isSet) return `the end of ${removed.length} destinations`
  for (const place of places) {
    if (!friends.shares(friend, place)) return 'the end of a destination that it does not serve'
  }
  return null
}
