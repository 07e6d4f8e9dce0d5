import { realClock } from '../../base/clock.js'
import { describeRunning } from '../../world/diagnosis-text.js'
import { watchEmptyLoop } from '../../world/empty-loop.js'
import type { UserProgram } from '../../world/user-program.js'
import { hostSession, type RunningWorld, type WorldOptions } from '../../world/world.js'
import type { Launcher, LaunchRequest } from './launcher.js'
import { loadExports } from './load-program.js'
import { ReportTriggers } from './report-triggers.js'
import { withCallRecords } from './with-call-records.js'
import { withMatchingTraces } from './with-matching-traces.js'

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
  return program instanceof URL ? loadExports<T, A>(program.href, { hosted }) : program
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
