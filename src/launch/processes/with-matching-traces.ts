import type { MatchingOptions } from '../../messages/process/matching-options.js'
import type { RunningWorld } from '../../world/world.js'

/**
 * Runs a part of a world, and writes the records of matching of its ranks, however it ends.
 *
 * @param world once it runs
 * @throws what `run` throws; else ERR_FILE
 */
export async function withMatchingTraces<T>(
  { trace }: MatchingOptions = {},
  world: () => RunningWorld | undefined,
  run: () => Promise<T>,
): Promise<T> {
  if (trace === undefined) return run()
  const write = async () => {
    const running = world()
    if (running === undefined) return
    // The module is loaded only if something is recorded.
    const { writeMatchingTraces } = await import('./matching-trace-files.js')
    await writeMatchingTraces(trace, running)
  }
  let result: T
  try {
    result = await run()
  } catch (error) {
    // The first error counts.
    await write().catch(() => {})
    throw error
  }
  await write()
  return result
}
