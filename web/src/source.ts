import type { RankView } from '../../src/report/plan-view.js'
import type { NeighborhoodView } from '../../src/report/topology-view.js'

/** Gives views the data of a rank, from the file of a report or from the service. */
export interface RankSource {
  /** Null where it is not at hand. */
  neighborhood(rank: number): Promise<NeighborhoodView | null>
  program(rank: number): Promise<RankView | null>
  /** The text that a view shows if there is no program. */
  readonly whyNoProgram: string
}
