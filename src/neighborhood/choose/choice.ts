import type { Level } from '../../machine/profile.js'
import type { Parameters } from '../../schedule/ir.js'
import type { Strategy } from '../plan/strategy.js'

/** A strategy that was planned and simulated, or at least estimated. */
export interface Alternative {
  /** Its line of text, as `parseStrategy` reads it. */
  readonly strategy: string
  readonly parameters: Parameters
  /** Predicted, until the last rank is done. */
  readonly timeUs: number
  /** Whether the time is that of the simulator; else it is the estimate by which candidates are ranked. */
  readonly isSimulated: boolean
  /** Messages between processes; of an estimate rounded. */
  readonly messages: number
  /** Payload of the messages by how far they go. */
  readonly bytes: Readonly<Record<Level, number>>
  /** Measured while it was planned, so it differs from run to run. 0 of an estimate. */
  readonly planMs: number
  /** Starts after which planning has cost no more time than it saved against direct sends; null: never. */
  readonly breakEvenStarts: number | null
}

/** What was chosen, and among what. */
export interface Choice {
  readonly strategy: Strategy
  readonly chosen: Alternative
  /** By time; the chosen one, and direct sends, are among them. */
  readonly alternatives: readonly Alternative[]
  /** Candidates whose time was estimated. */
  readonly considered: number
  /** Bytes of every block that it is for. */
  readonly bytes: number
}
