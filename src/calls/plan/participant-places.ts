import type { Algorithm } from '../../collective/patterns/algorithm.js'
import type { ParticipantGrid } from '../../collective/patterns/participant-grid.js'
import { gridOfMachine } from '../../collective/ways/machine-grid.js'
import { RankweaveError } from '../../errors.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { Collective } from '../../schedule/specification.js'
import type { Participants } from './participants.js'

// Rank r of the world is on core r of its machine. A rank of another communicator is on the core of its rank in the
// world. A process is on the core of the lowest rank of the world that it hosts in the communicator. The grid thus
// follows from the machine and the rank table alone, and all processes find the same.

/**
 * Returns why an algorithm that follows the network cannot serve a communicator; null if it can. With a
 * distributed table a process knows only some locations, and another may have fetched them all.
 */
export function placesRefusal({ followsGrid }: Algorithm, state: CommContext): string | null {
  if (followsGrid !== true || state.runtime.options.machine === undefined || !state.wasDistributed)
    return null
  return `it follows the network of the world's machine, and ${unknownPlaces}`
}

/**
 * Refuses `auto` if the machine cannot choose. All ranks find the same.
 *
 * @throws ERR_MACHINE unless the world has a machine with a profile; ERR_ALGORITHM if the rank table is in parts
 */
export function requireChoices(collective: Collective, { runtime, wasDistributed }: CommContext): void {
  const { machine } = runtime.options
  const expected = `${collective}: algorithm auto: expected a world with a machine that has a profile`
  if (machine === undefined) throw new RankweaveError('ERR_MACHINE', `${expected}, got no machine`)
  if (machine.profile === null) throw new RankweaveError('ERR_MACHINE', `${expected}, got one without`)
  if (wasDistributed)
    throw new RankweaveError('ERR_ALGORITHM', `${collective}: algorithm auto: ${unknownPlaces}`)
}

const unknownPlaces = 'the rank table is distributed: no process knows all places'

/** Returns the core of every participant on the machine of a world. The communicator's table must be whole. */
export function coresOfParticipants(state: CommContext, { process, firstRank }: Participants): Int32Array {
  const worldRankOf = (rank: number): number => state.table.lookup(rank) as number
  const coreOf = new Int32Array(process.length).fill(-1)
  if (firstRank === null) {
    for (let rank = 0; rank < state.size; rank++) {
      const core = worldRankOf(rank)
      const index = state.processOfRank(rank) as number
      if (coreOf[index] < 0 || core < coreOf[index]) coreOf[index] = core
    }
  } else for (let i = 0; i < coreOf.length; i++) coreOf[i] = worldRankOf(firstRank[i])
  return coreOf
}

/**
 * Returns the places of participants on the machine of the world; undefined without one, or if {@link gridOfMachine}
 * has none. The communicator's table must be whole. Time: proportional to its ranks.
 */
export function gridOfParticipants(
  state: CommContext,
  participants: Participants,
): ParticipantGrid | undefined {
  const { machine } = state.runtime.options
  if (machine === undefined || state.wasDistributed) return undefined
  const coreOf = coresOfParticipants(state, participants)
  return gridOfMachine(machine, coreOf, coreOf.length)
}
