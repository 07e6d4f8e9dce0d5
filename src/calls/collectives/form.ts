import type { WaitOptions } from '../../base/abort.js'
import { requireKnownOptions } from '../../base/known-options.js'
import type { OptionTable } from '../../base/option.js'
import { RankweaveError } from '../../errors.js'
import { type OperationOwner, Pending } from '../../messages/mailboxes/pending-operation.js'
import { Request } from '../../messages/p2p/request.js'
import type { RankHandle, Seat } from '../../messages/process/comm-context.js'
import type { CollectiveContext } from '../plan/collective-plan.js'
import type { PlannedCall } from '../program/planned-call.js'
import { copyIfAliased } from '../values/deliver.js'

export type Handle = RankHandle<CollectiveContext>

/** A form of a collective (MPI-4.1 §6.12, §6.13): it decides what happens to a call whose arguments are valid. */
export interface Form<R> {
  /** Whether the call may be that of an earlier collective; false if it is retained. */
  readonly mayReuse: boolean
  /**
   * Refuses options that the call does not have, checks the arguments and continues with {@link join}. Decides how an
   * error is reported.
   */
  attempt(
    comm: Handle,
    name: string,
    known: OptionTable<WaitOptions>,
    options: WaitOptions | undefined,
    start: (seat: Seat<CollectiveContext>) => R,
  ): R
  /**
   * Returns `part`, or a copy of it if the rank's result would overwrite its bytes while other ranks here still read
   * them.
   */
  unaliased<P extends { readonly bytes: Uint8Array }>(into: unknown, part: P): P
  join<C>(
    seat: Seat<CollectiveContext>,
    call: PlannedCall<C>,
    contribution: C,
    options: WaitOptions | undefined,
  ): R
}

/**
 * The blocking form: the rank joins at once and waits for its result. A method that returns a promise never throws. A
 * form knows no type of result; `never` fits what each method declares.
 */
export const blocking: Form<Promise<never>> = {
  mayReuse: true,
  attempt(comm, name, known, options, start) {
    try {
      const seat = comm.seat()
      if (options !== undefined) requireKnownOptions(name, options, known)
      return start(seat)
    } catch (error) {
      return Promise.reject(error)
    }
  },
  unaliased: copyIfAliased,
  join({ state, localIndex }, call, contribution, options) {
    return state.collectives.call(localIndex, call, contribution, options) as Promise<never>
  },
}

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
