import type { TypedArray } from '../../messages/datatype/elements.js'
import type { Seat } from '../../messages/process/comm-context.js'
import type { CollectiveCall } from '../collective-call.js'
import type { CollectiveName } from '../collective-name.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import { copyIfAliased } from '../plan/deliver.js'
import { BoundCollective, type BoundStart } from '../program/bound-collective.js'
import { PersistentRequest } from '../program/persistent-request.js'
import type { Signature } from '../signature.js'
import type { Form, Handle } from './form.js'

/** A copy of what a rank sends, made again by every start. */
interface Copy {
  readonly from: Uint8Array
  readonly to: Uint8Array
}

/** What a rank binds. */
interface Binding {
  readonly contribution: unknown
  readonly copies: readonly Copy[]
}

/**
 * The call is bound to its buffers, to be started on its own lane (MPI-4.1 §6.13). One object per init
 * of a rank.
 */
export class PersistentForm implements Form<PersistentRequest> {
  readonly mayReuse = false
  readonly #name: CollectiveName
  readonly #buffers: readonly TypedArray[]
  readonly #agreed: Pick<Signature, 'type' | 'count'>
  readonly #copies: Copy[] = []

  /** @param agreed what all ranks bind alike, beyond what the call itself compares */
  constructor(
    name: CollectiveName,
    buffers: readonly TypedArray[],
    agreed: Pick<Signature, 'type' | 'count'> = {},
  ) {
    this.#name = name
    this.#buffers = buffers
    this.#agreed = agreed
  }

  attempt(comm: Handle, start: (seat: Seat<CollectiveContext>) => PersistentRequest): PersistentRequest {
    return start(comm.seat())
  }

  unaliased<P extends { readonly bytes: Uint8Array }>(into: unknown, part: P): P {
    const own = copyIfAliased(into, part)
    if (own !== part) this.#copies.push({ from: part.bytes, to: own.bytes })
    return own
  }

  join<C>(
    { state, localIndex, handle }: Seat<CollectiveContext>,
    call: CollectiveCall<C, unknown>,
    contribution: C,
  ): PersistentRequest {
    const signature: Signature = { ...call.signature, ...this.#agreed, name: this.#name }
    const init: CollectiveCall<Binding, BoundCollective> = {
      signature,
      unplaced: true,
      run: (bindings, exchange) => {
        const bound = new BoundCollective(state, exchange, startOf(signature, call, bindings))
        return bindings.map(() => bound)
      },
    }
    const setup = state.collectives.call(localIndex, init, { contribution, copies: this.#copies })
    return new PersistentRequest(handle, setup, this.#buffers)
  }
}

function startOf<C>(
  signature: Signature,
  call: CollectiveCall<C, unknown>,
  bindings: readonly Binding[],
): BoundStart {
  const contributions = bindings.map(({ contribution }) => contribution as C)
  const copies = bindings.flatMap((binding) => binding.copies)
  return {
    signature,
    ...(call.unplaced === undefined ? {} : { unplaced: call.unplaced }),
    run(_, exchange) {
      for (const { from, to } of copies) to.set(from)
      return call.run(contributions, exchange)
    },
  }
}
