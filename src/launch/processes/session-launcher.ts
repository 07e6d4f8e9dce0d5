import { realClock } from '../../base/clock.js'
import { describeRunning } from '../../world/diagnosis-text.js'
import { watchEmptyLoop } from '../../world/empty-loop.js'
import { hostSession, type Main, type RunningWorld, type WorldOptions } from '../../world/world.js'
import type { Launcher, LaunchRequest } from './launcher.js'
import { loadDefault } from './load-program.js'
import { ReportTriggers } from './report-triggers.js'

/** On a fabric whose session opens in this thread. */
export const launchSession: Launcher = (factory, request) =>
  hostHere(request, loadMain(request), async (main, world) => hostSession(await factory.open(), main, world))

/** On logical processes, which start nothing of their own that could keep the event loop alive. */
export const launchLocal: Launcher = (factory, request) =>
  hostHere(request, loadMain(request), async (main, world) => {
    let unwatch: (() => void) | undefined
    try {
      return await hostSession(await factory.open(), main, {
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

/** The program. @throws ERR_PROGRAM */
export async function loadMain<T, A>({ main }: LaunchRequest<T, A>): Promise<Main<T, A>> {
  return main instanceof URL ? loadDefault<T, A>(main.href) : main
}

/**
 * Runs the part of a world that this thread hosts, with its reports.
 *
 * @param loading the program, from `loadMain`
 * @param host runs `main` on every rank hosted here
 */
export async function hostHere<T, A>(
  { world, signal, report }: LaunchRequest<T, A>,
  loading: Promise<Main<T, A>>,
  host: (main: Main<T, A>, world: WorldOptions<A>) => Promise<T[]>,
): Promise<T[]> {
  const main = await loading
  let running: RunningWorld | undefined
  const triggers = new ReportTriggers(report, realClock, () => describeRunning(running))
  try {
    return await host(main, {
      ...world,
      ...(signal === undefined ? {} : { signal }),
      onStart: (started) => {
        running = started
      },
    })
  } finally {
    triggers.stop()
  }
}
