import { RankweaveError } from '../../errors.js'

/**
 * The lost processes of one communicator as one process knows them, and how many each rank here has acknowledged. They
 * are in the order in which the authority reported them. The order is the same everywhere, so two ranks that have
 * acknowledged as many have acknowledged the same.
 *
 * @see MPI Forum, User-Level Failure Mitigation (MPIX_Comm_ack_failed)
 */
export class KnownLosses {
  readonly #localRanks: number
  readonly #errorOf: (process: number) => RankweaveError
  readonly #processes: number[] = []
  /** The acknowledged losses by local index; made with the first loss. */
  #acknowledged: Int32Array | undefined

  /** @param errorOf makes the error of an operation that needs a lost process; none is held, for each has a stack */
  constructor(localRanks: number, errorOf: (process: number) => RankweaveError) {
    this.#localRanks = localRanks
    this.#errorOf = errorOf
  }

  /** The world processes, in the order in which they were lost. */
  get processes(): readonly number[] {
    return this.#processes
  }

  add(process: number): void {
    this.#acknowledged ??= new Int32Array(this.#localRanks)
    this.#processes.push(process)
  }

  get last(): RankweaveError | undefined {
    const process = this.#processes.at(-1)
    return process === undefined ? undefined : this.#errorOf(process)
  }

  acknowledged(localIndex: number): number {
    return this.#acknowledged?.[localIndex] ?? 0
  }

  /** Acknowledges, for a rank, all losses that are known here; returns how many they are. */
  acknowledge(localIndex: number): number {
    const count = this.#processes.length
    if (this.#acknowledged !== undefined) this.#acknowledged[localIndex] = count
    return count
  }

  /** Returns why a rank cannot receive from any source: losses that it has not acknowledged. */
  unacknowledged(localIndex: number): RankweaveError | undefined {
    const from = this.acknowledged(localIndex)
    const errors = this.#processes.slice(from).map(this.#errorOf)
    if (errors.length <= 1) return errors[0]
    const message = `${errors.length} processes are lost: ${errors.map((error) => error.message).join('; ')}`
    return new RankweaveError('ERR_PEER_LOST', message, { details: { ...errors[0].details } })
  }
}
