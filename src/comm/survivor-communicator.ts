import { promiseTry } from '../base/turn.js'
import { RankweaveError, shown } from '../errors.js'
import { processOf } from '../messages/process/world-layout.js'
import type { CommSeat } from './handle.js'
import { PersistentCommunicator } from './persistent-communicator.js'
import { noAuthorityError, revokedError } from './survive/survivor-errors.js'
import type { TableContext } from './table/table-context.js'

/** Ranks of a communicator whose processes are known as lost here, ascending. */
export async function lostRanks(state: TableContext): Promise<Int32Array> {
  if (state.losses.processes.length === 0) return new Int32Array(0)
  const table = await state.place()
  const lost = new Set(state.losses.processes)
  const ranks: number[] = []
  for (let rank = 0; rank < table.size; rank = state.processes.endOfRun(rank)) {
    if (!lost.has(processOf(state.runtime.layout, table.lookup(rank)))) continue
    const end = state.processes.endOfRun(rank)
    for (let each = rank; each < end; each++) ranks.push(each)
  }
  return Int32Array.from(ranks)
}

/**
 * What the survivors of lost processes do: User-Level Failure Mitigation of the MPI Forum, where `failed` is
 * MPIX_Comm_get_failed, and the other names are those of MPIX_Comm_*. These calls work on communicators that
 * have failed or are revoked, where all others but `free` reject.
 *
 * They need an authority on failures: on `mpi` a lost process ends the job, and these calls reject with
 * ERR_AUTHORITY.
 */
export abstract class SurvivorCommunicator extends PersistentCommunicator {
  /**
   * Ranks of this communicator that this process knows as lost, ascending. Local, but for a distributed rank
   * table, which is fetched first.
   *
   * @throws ERR_PEER_LOST where the rows of lost ranks are lost with a slice of the table; `shrink` needs
   *   none
   */
  failed(): Promise<Int32Array> {
    return promiseTry(() => lostRanks(this.#seat('failed').state))
  }

  /**
   * Acknowledges for this rank all losses that this process knows. Until then its receives from ANY_SOURCE
   * fail with ERR_PEER_LOST; afterwards they wait for the ranks that live. Local; the acknowledgment also
   * counts in `agree` and at the end of the world.
   *
   * @returns how many processes of this communicator this rank has acknowledged as lost, in total
   */
  async ackFailed(): Promise<number> {
    const { state, localIndex } = this.#seat('ackFailed')
    const { losses, runtime } = state
    for (const process of losses.processes) {
      runtime.acknowledgements.acknowledge(process, state.hostedIndex(localIndex))
    }
    return losses.acknowledge(localIndex)
  }

  /**
   * Fails every pending and later operation of this communicator on every rank that lives, with ERR_REVOKED;
   * except `agree`, `shrink`, `failed`, `ackFailed` and `free`. Not collective: one rank calls it, and
   * resolves at once. Each process that learns of it passes it on, so it reaches all also when its caller is
   * lost meanwhile. Revoking again has no effect.
   */
  async revoke(): Promise<void> {
    const { state, rank } = this.#seat('revoke')
    state.collectives.revoke(revokedError(state, rank))
  }

  /**
   * Collective of the ranks that live: the bitwise AND of their flags, the same at each. Lost ranks
   * contribute what they had passed, or nothing.
   *
   * @param flag -2^31 to 2^31 - 1
   * @throws ERR_PEER_LOST, at every rank alike, when a process of the communicator is lost that some rank had
   *   not acknowledged before its call; `details.flag` is the agreed value. ERR_COLLECTIVE_MISMATCH when
   *   others call `shrink`
   */
  agree(flag: number): Promise<number> {
    return promiseTry(() => {
      if (!Number.isInteger(flag) || flag !== (flag | 0)) {
        const message = `agree: expected flag as an integer of 32 bits, got ${shown(flag)}`
        throw new RankweaveError('ERR_ARGUMENT', message)
      }
      const { state, localIndex } = this.#seat('agree')
      return state.survival.agree(localIndex, flag)
    })
  }

  /** A seat on this communicator, whatever has become of it. */
  #seat(name: string): CommSeat {
    const seat = this.seatToFree()
    const { ended, fabric } = seat.state.runtime
    if (ended !== undefined) throw ended
    if (fabric.authority === undefined) throw noAuthorityError(name, fabric.kind)
    return seat
  }

  /** @internal */
  protected seatToShrink(): CommSeat {
    return this.#seat('shrink')
  }
}
