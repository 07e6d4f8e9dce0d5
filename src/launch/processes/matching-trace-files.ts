import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { traceLines } from '../../messages/matching-designs/trace-lines.js'
import type { MatchingOptions } from '../../messages/process/matching-options.js'
import { fileError, makeDirectory, writeWholeFile } from '../../text/whole-file.js'
import type { RunningWorld } from '../../world/world.js'

/** The file of a rank in the directory of a trace. */
export function traceFileName(worldRank: number): string {
  return `rank-${worldRank}.jsonl`
}

/** Makes the directory before the world starts. @throws ERR_FILE where files cannot be written */
export function makeTraceDirectory(directory: string): void {
  try {
    makeDirectory(directory)
    accessSync(directory, constants.W_OK)
    // Of what is there and is no directory.
    accessSync(join(directory, '.'), constants.X_OK)
  } catch (cause) {
    throw fileError('write', directory, cause)
  }
}

/**
 * Runs a part of a world, and writes what its ranks have recorded of matching, however it ends.
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
  let result: T
  try {
    result = await run()
  } catch (error) {
    // The first error counts.
    await writeTraces(trace, world()).catch(() => {})
    throw error
  }
  await writeTraces(trace, world())
  return result
}

async function writeTraces(directory: string, world: RunningWorld | undefined): Promise<void> {
  if (world === undefined) return
  const processes = world.layout.ranks
  for (const recorder of world.matchingTraces()) {
    const { rank, communicatorSizes, bounded } = recorder
    const lines = traceLines({ processes, rank, communicatorSizes }, recorder.operations(), { bounded })
    await writeWholeFile(join(directory, traceFileName(rank)), ended(lines))
  }
}

function* ended(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`
}
