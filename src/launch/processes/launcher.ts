import type { FabricFactory } from '../../fabric/fabric.js'
import type { RuntimeOptions } from '../../messages/process/frame-port.js'
import type { EventLoopWatch } from '../../world/event-loop.js'
import type { UserProgram } from '../../world/user-program.js'
import type { WorldOptions } from '../../world/world.js'
import type { ReportOptions } from './report-triggers.js'

/** A tuning file, or the options of online tuning of a run. */
export type LoadedTuning = Pick<RuntimeOptions, 'tuning' | 'online'>

/** The request for a world that `run` was called for; its options have been checked. */
export interface LaunchRequest<T, A> {
  readonly program: UserProgram<T, A> | URL
  /** Whether a module's export `hosted` may run; false: only the default export runs. */
  readonly hosted: boolean
  readonly world: WorldOptions<A>
  /** The tuning; undefined if there is none, or if the launcher must take its turn before it is loaded. */
  readonly tuning: Promise<LoadedTuning> | undefined
  readonly signal: AbortSignal | undefined
  readonly report: ReportOptions | undefined
  /** The activities that kept the event loop alive when `run` was called. */
  readonly eventLoop: EventLoopWatch
}

/**
 * Starts the processes of a world on one kind of fabric, or joins them, and resolves to the values that the ranks
 * returned.
 */
export type Launcher = <T, A>(factory: FabricFactory, request: LaunchRequest<T, A>) => Promise<T[]>

export type ProcessOutcome =
  | { readonly kind: 'returned'; readonly results: readonly unknown[]; readonly without?: readonly number[] }
  | { readonly kind: 'failed' }
  | { readonly kind: 'lost' }

/**
 * Returns whether the world did without the processes that were lost: all others have returned, and each has agreed to
 * do without each of them.
 *
 * @param outcomes by process; undefined for one that has not ended
 */
export function areSurvived(outcomes: readonly (ProcessOutcome | undefined)[]): boolean {
  const gone = [...outcomes.keys()].filter((process) => outcomes[process]?.kind === 'lost')
  const living = outcomes.filter((outcome) => outcome?.kind !== 'lost')
  return (
    living.length > 0 &&
    living.every(
      (outcome) =>
        outcome?.kind === 'returned' && gone.every((process) => outcome.without?.includes(process) === true),
    )
  )
}
