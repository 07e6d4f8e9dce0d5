import { requireKnownOptions } from '../../base/known-options.js'
import { RankweaveError } from '../../errors.js'
import { type OperationOwner, Pending } from '../../messages/mailboxes/pending-operation.js'
import { Request } from '../../messages/p2p/request.js'
import { copyIfAliased } from '../values/deliver.js'
import type { Form } from './form.js'

/** The non-blocking form: the rank joins and continues, and may wait for the request later (MPI-4.1 §6.12). */
export const started: Form<Request<never>> = {
  mayReuse: true,
  attempt(comm, name, known, options, start) {
    const seat = comm.seat()
    if (options !== undefined) requireKnownOptions(`i${name}`, options, known)
    return start(seat)
  },
  unaliased: copyIfAliased,
  join({ state, localIndex, rank }, call, contribution, options) {
    const name = `i${call.signature.name}`
    // Joining may revoke the communicator, which the request reports.
    const owner = state.matching.mailbox(rank)
    const outcome = state.collectives.call(localIndex, call, contribution, options, false) as Promise<never>
    return new Request(new StartedCollective(owner, name, outcome, options?.signal !== undefined))
  },
}

class StartedCollective<T> extends Pending<T> {
  readonly call: string
  readonly #hasSignal: boolean

  /** @param outcome rejects with a RankweaveError, as all that the library rejects */
  constructor(owner: OperationOwner, call: string, outcome: Promise<T>, hasSignal: boolean) {
    super(owner)
    this.call = call
    this.#hasSignal = hasSignal
    outcome.then(
      (value) => this.fulfill(value),
      (error) => this.reject(error as RankweaveError),
    )
  }

  /** Whether the collective was started with a signal, which revokes the communicator. */
  override get hasSignal(): boolean {
    return this.#hasSignal
  }

  override cancel(): void {
    const message = `cancel: ${this.call} is a collective, which no rank can take back alone; abort the signal that it was started with`
    throw new RankweaveError('ERR_REQUEST', message)
  }

  protected withdraw(): void {}
}
