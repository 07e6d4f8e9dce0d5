import { RankweaveError } from '../errors.js'

/** An edge that its source and its destination list different numbers of times. */
export interface OneSidedEdge {
  readonly source: number
  /** The number of times that the source lists the destination. */
  readonly sent: number
  readonly expected: number
}

/**
 * Returns the smallest source of one rank that lists an edge a different number of times than the rank does; null if
 * none does.
 *
 * @param named sources that list the rank as a destination, ascending
 * @param listed sources that the rank lists, ascending
 */
export function oneSidedEdge(named: Int32Array, listed: Int32Array): OneSidedEdge | null {
  let i = 0
  while (i < named.length && named[i] === listed[i]) i++
  if (i === named.length && i === listed.length) return null
  // The lists agree up to here, so the smaller of the two values occurs more often in its list.
  const source = Math.min(named[i] ?? listed[i], listed[i] ?? named[i])
  return { source, sent: timesIn(named, source), expected: timesIn(listed, source) }
}

/** Returns the ERR_TOPOLOGY error that names the edge. */
export function endsDiffer({ source, sent, expected }: OneSidedEdge, destination: number): RankweaveError {
  return new RankweaveError(
    'ERR_TOPOLOGY',
    `edge from ${source} to ${destination}: rank ${source} lists ${destination} as a destination ${times(sent)}, ` +
      `but rank ${destination} lists ${source} as a source ${times(expected)}`,
    { details: { source, destination } },
  )
}

function timesIn(list: Int32Array, wanted: number): number {
  return list.reduce((sum, rank) => sum + (rank === wanted ? 1 : 0), 0)
}

function times(n: number): string {
  return n === 1 ? 'once' : `${n} times`
}
