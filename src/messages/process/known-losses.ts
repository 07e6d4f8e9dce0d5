import { RankweaveError } from '../../errors.js'

/**
 * Lost processes of one communicator as one process knows them, in the order in which the authority told of
 * them, and how many each rank here has acknowledged. The order is the same everywhere, so two ranks that
 * have acknowledged as many have acknowledged the same.
 *
 * @see MPI Forum, User-Level Failure Mitigation (MPIX_Comm_ack_failed)
 */
export class KnownLosses {
  readonly #localRanks: number
  readonly #processes: number[] = []
  readonly #errors: RankweaveError[] = []
  /** By local index; made with the first loss. */
  #acknowledged: Int32Array | undefined

  constructor(localRanks: number) {
    this.#localRanks = localRanks
  }

  /** World processes, in the order in which they were lost. */
  get processes(): readonly number[] {
    return this.#processes
  }

  /** @param error of an operation that needs `process` */
  add(process: number, error: RankweaveError): void {
    this.#acknowledged ??= new Int32Array(this.#localRanks)
    this.#processes.push(process)
    this.#errors.push(error)
  }

  /** The error of the last loss. */
  get last(): RankweaveError | undefined {
    return this.#errors.at(-1)
  }

  /** How many losses a rank has acknowledged. */
  acknowledged(localIndex: number): number {
    return this.#acknowledged?.[localIndex] ?? 0
  }

  /** A rank acknowledges all that are known here; returns how many that are. */
  acknowledge(localIndex: number): number {
    const count = this.#processes.length
    if (this.#acknowledged !== undefined) this.#acknowledged[localIndex] = count
    return count
  }

  /** Why a rank cannot receive from any source: losses that it has not acknowledged. */
  unacknowledged(localIndex: number): RankweaveError | undefined {
    const from = this.acknowledged(localIndex)
    const errors = this.#errors.slice(from)
    if (errors.length <= 1) return errors[0]
    const message = `${errors.length} processes are lost: ${errors.map((error) => error.message).join('; ')}`
    return new RankweaveError('ERR_PEER_LOST', message, { details: { ...errors[0].details } })
  }
}
