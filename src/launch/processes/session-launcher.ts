import { realClock } from '../../base/clock.js'
import type { FabricFactory } from '../../fabric/fabric.js'
import type { RuntimeOptions } from '../../messages/process/frame-port.js'
import { describeRunning } from '../../world/diagnosis-text.js'
import { watchEmptyLoop } from '../../world/empty-loop.js'
import type { EventLoopWatch } from '../../world/event-loop.js'
import { warnOfUnfinished } from '../../world/unfinished.js'
import type { UserProgram } from '../../world/user-program.js'
import { hostSession, type RunningWorld, type WorldOptions } from '../../world/world.js'
import { loadUnlessEmpty } from './load-program.js'
import { withCallRecords, withMatchingTraces } from './optional-parts.js'
import { type ReportOptions, ReportTriggers } from './report-triggers.js'

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

/** Launches on a fabric whose session opens in this thread. */
export const launchSession: Launcher = (factory, request) =>
  hostHere(request, loadRequested(request), async (program, world) =>
    hostSession(await factory.open(), program, world),
  )

/** Launches on logical processes, which start nothing that could keep the event loop alive. */
export const launchLocal: Launcher = (factory, request) =>
  hostHere(request, loadRequested(request), async (program, world) => {
    let unwatch: (() => void) | undefined
    try {
      return await hostSession(await factory.open(), program, {
        ...world,
        eventLoop: request.eventLoop,
        onStart: (running) => {
          world.onStart?.(running)
          if (world.detectDeadlock !== false) unwatch = watchEmptyLoop(running)
        },
      })
    } finally {
      unwatch?.()
    }
  })

/** Loads the program. @throws ERR_PROGRAM */
export async function loadRequested<T, A>({
  program,
  hosted,
}: LaunchRequest<T, A>): Promise<UserProgram<T, A>> {
  return program instanceof URL ? loadUnlessEmpty<T, A>(program.href, { hosted }) : program
}

/**
 * Runs the part of a world that this thread hosts, with its reports.
 *
 * @param loading the program, from `loadRequested`
 * @param host runs it on every rank hosted here
 */
export async function hostHere<T, A>(
  { world, signal, report }: Pick<LaunchRequest<T, A>, 'world' | 'signal' | 'report'>,
  loading: Promise<UserProgram<T, A>>,
  host: (program: UserProgram<T, A>, world: WorldOptions<A>) => Promise<T[]>,
): Promise<T[]> {
  const program = await withCallRecords(await loading, world.online)
  let running: RunningWorld | undefined
  const triggers = new ReportTriggers(report, realClock, () => describeRunning(running))
  try {
    return await withMatchingTraces(
      world.matching,
      () => running,
      () =>
        host(program, {
          ...world,
          onUnfinished: warnOfUnfinished,
          ...(signal === undefined ? {} : { signal }),
          onStart: (started) => {
            running = started
          },
        }),
    )
  } finally {
    triggers.stop()
  }
}
