import { givenOptions } from '../base/option-table.js'
import { restoreHeapFlags } from '../fabric/process-heap.js'
import type { ThreadsFactory } from '../fabric/threads/threads.js'
import { worldLayout } from '../messages/process/world-layout.js'
import type { ProcessData } from './processes/process-protocol.js'
import type { Launcher } from './processes/session-launcher.js'
import {
  type FollowOptions,
  followWorld,
  requireCloneable,
  requireModule,
} from './processes/started-world.js'
import { dropOutputOfBrokenStreams } from './processes/worker-output.js'
import { startWorkers } from './threads-start.js'

/** Launches on worker threads, each of which loads the program itself. */
export const launchThreads: Launcher = async (factory, { program, hosted, world, signal, report }) =>
  runThreads(
    requireModule(program, factory.kind, 'threads'),
    factory as ThreadsFactory,
    { ...world, hosted },
    {
      ...givenOptions({ signal, report }),
    },
  )

/**
 * Runs a world whose processes are worker threads.
 *
 * @returns the values that the ranks' mains returned, in rank order, cloned
 * @throws ERR_WORLD, ERR_CLONE before a worker is started
 */
export function runThreads<T>(
  program: URL,
  factory: ThreadsFactory,
  world: ProcessData['world'],
  options: FollowOptions = {},
): Promise<T[]> {
  const layout = worldLayout(world.ranks, factory.options.nodes, world.ranksPerProcess)
  requireCloneable(world.args, 'threads')
  const start = () => {
    const workers = startWorkers(program, factory, world)
    const releaseOutput = dropOutputOfBrokenStreams(workers)
    const release = () => {
      releaseOutput()
      // A worker may have been terminated during a collection.
      restoreHeapFlags()
    }
    return { processes: workers, noun: 'worker', release }
  }
  return followWorld(start, layout, options)
}
