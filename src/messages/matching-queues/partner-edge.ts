/**
 * The count of elements above which a source is a partner. It is the mean of all counts, their median, or Tukey's upper
 * fence Q3 + alpha (Q3 - Q1). The thesis prints a minus; with its alpha of 0 both are the third quartile.
 *
 * @see Ghazimirsaeed 2019 equation 4.2
 */
export const partnerEdges = ['average', 'median', 'upper-fence'] as const
export type PartnerEdge = (typeof partnerEdges)[number]

/** Whether sources without elements count, too. In sparse rows they make the median 0. */
export const edgePopulations = ['all', 'nonzero'] as const
export type EdgePopulation = (typeof edgePopulations)[number]

export interface EdgeRule {
  readonly edge: PartnerEdge
  /** The alpha of `upper-fence`. */
  readonly alpha: number
  readonly population: EdgePopulation
}

/**
 * Returns the edge of counts. Quartiles are linear between two counts.
 *
 * @param counts those above 0, in any order
 * @param zeros how many sources have none
 */
export function edgeOfCounts(counts: readonly number[], zeros: number, rule: EdgeRule): number {
  const absent = rule.population === 'all' ? zeros : 0
  const population = absent + counts.length
  if (population === 0) return 0
  if (rule.edge === 'average') return counts.reduce((sum, count) => sum + count, 0) / population
  const ascending = counts.toSorted((a, b) => a - b)
  const at = (place: number): number => (place < absent ? 0 : ascending[place - absent])
  const quantileAt = (share: number): number => {
    const place = share * (population - 1)
    const below = Math.floor(place)
    const above = Math.min(below + 1, population - 1)
    return at(below) + (place - below) * (at(above) - at(below))
  }
  if (rule.edge === 'median') return quantileAt(0.5)
  const upper = quantileAt(0.75)
  return upper + rule.alpha * (upper - quantileAt(0.25))
}

/**
 * Returns the keys whose count is above the edge, ascending.
 *
 * @param counts by key, above 0
 * @param population keys with a count and without
 * @see Ghazimirsaeed 2019 algorithm 4.1
 */
export function partnerKeys(
  counts: ReadonlyMap<number, number>,
  population: number,
  rule: EdgeRule,
): number[] {
  const edge = edgeOfCounts([...counts.values()], Math.max(0, population - counts.size), rule)
  const keys = [...counts].flatMap(([key, count]) => (count > edge ? [key] : []))
  return keys.sort((a, b) => a - b)
}
