import { join } from 'node:path'
import { traceLines } from '../../messages/matching-designs/trace-lines.js'
import { writeWholeFile } from '../../text/whole-file.js'
import type { RunningWorld } from '../../world/world.js'

/** The file of a rank in the directory of a trace. */
export function traceFileName(worldRank: number): string {
  return `rank-${worldRank}.jsonl`
}

/** Writes what the ranks of a part of a world have recorded of matching. @throws ERR_FILE */
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
