import { RankweaveError } from '../errors.js'
import type { ThreadsFactory } from '../fabric/threads/threads.js'
import type { Launcher } from './launcher.js'
import { runThreads } from './threads-run.js'

/** On worker threads, each of which loads the program for itself. */
export const launchThreads: Launcher = async (factory, { main, world, signal, report }) => {
  if (!(main instanceof URL)) {
    throw new RankweaveError(
      'ERR_ARGUMENT',
      `run: functions do not cross threads; for fabric '${factory.kind}' expected the URL of a module whose default ` +
        `export is main, such as new URL('./program.js', import.meta.url), got a function`,
    )
  }
  return runThreads(main, factory as ThreadsFactory, world, {
    ...(signal === undefined ? {} : { signal }),
    ...(report === undefined ? {} : { report }),
  })
}
