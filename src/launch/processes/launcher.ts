import type { FabricFactory } from '../../fabric/fabric.js'
import type { EventLoopWatch } from '../../world/event-loop.js'
import type { Main, WorldOptions } from '../../world/world.js'
import type { ReportOptions } from './report-triggers.js'

/** A world that `run` was called for; its options have been checked. */
export interface LaunchRequest<T, A> {
  readonly main: Main<T, A> | URL
  readonly world: WorldOptions<A>
  readonly signal: AbortSignal | undefined
  readonly report: ReportOptions | undefined
  /** What kept the event loop alive when `run` was called. */
  readonly eventLoop: EventLoopWatch
}

/**
 * Starts the processes of a world on one kind of fabric, or joins them, and resolves to what the ranks
 * returned.
 */
export type Launcher = <T, A>(factory: FabricFactory, request: LaunchRequest<T, A>) => Promise<T[]>
