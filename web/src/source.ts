import type { NeighborhoodView } from '../../src/report/adjacency.js'
import type { RankView } from '../../src/report/rank-view.js'

/** Where views get what they have not been given: from the file itself, or from the service. */
export interface RankSource {
  /** Null where it is not at hand. */
  neighborhood(rank: number): Promise<NeighborhoodView | null>
  program(rank: number): Promise<RankView | null>
  /** What is said where there is no program. */
  readonly whyNoProgram: string
}
