import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { traceLines } from '../../messages/matching-queues/matching-trace.js'
import { fileError, makeWritableDirectory, writeWholeFile } from '../../text/whole-file.js'
import type { RunningWorld } from '../../world/world.js'

/** Returns the name of a rank's file in the directory of a trace. */
function traceFileName(worldRank: number): string {
  return `rank-${worldRank}.jsonl`
}

/**
 * Makes the directory of a trace before the world starts, and removes the files of another run that are there.
 *
 * @returns its absolute path
 * @throws ERR_FILE if files cannot be written
 */
export function prepareTraceDirectory(directory: string): string {
  const path = makeWritableDirectory(directory)
  for (const name of readdirSync(path)) {
    if (!/^rank-\d+\.jsonl$/.test(name)) continue
    const file = join(path, name)
    if (!lstatSync(file).isFile())
      throw fileError('write', file, new Error('expected a file or nothing there'))
    rmSync(file)
  }
  return path
}

/** Writes the records of matching of the ranks of a part of a world. @throws ERR_FILE */
export async function writeMatchingTraces(directory: string, world: RunningWorld): Promise<void> {
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
