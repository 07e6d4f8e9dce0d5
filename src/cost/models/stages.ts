import { opKind, type Schedule } from '../../schedule/ir.js'
import { requireSchedule } from '../../schedule/require-schedule.js'
import { requireBytes } from './check-input.js'
import type { Stage } from './congested-cost.js'

/**
 * Yields the messages of a schedule with one rank per node: a stage per phase, as if a barrier ended it.
 *
 * @param blockBytes of every block and partial result
 * @throws ERR_MODEL for a length out of range
 */
export function scheduleStages(schedule: Schedule, blockBytes: number): Generator<Stage> {
  requireSchedule(schedule)
  requireBytes('blockBytes', blockBytes)
  return stagesOf(schedule, blockBytes)
}

function* stagesOf(schedule: Schedule, blockBytes: number): Generator<Stage> {
  const phases = Array.from({ length: schedule.phases }, () => ({
    source: [] as number[],
    destination: [] as number[],
    bytes: [] as number[],
  }))
  const { opStart, opKind: kinds, opPhase, opPeer, entryStart, specification } = schedule
  for (let rank = 0; rank < specification.ranks; rank++) {
    for (let op = opStart[rank]; op < opStart[rank + 1]; op++) {
      if (kinds[op] !== opKind.send) continue
      const { source, destination, bytes } = phases[opPhase[op]]
      source.push(rank)
      destination.push(opPeer[op])
      bytes.push((entryStart[op + 1] - entryStart[op]) * blockBytes)
    }
  }
  yield* phases
}
