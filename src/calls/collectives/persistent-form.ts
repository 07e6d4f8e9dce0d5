import type { TypedArray } from '../../messages/datatype/elements.js'
import type { Seat } from '../../messages/process/comm-context.js'
import type { CollectiveName } from '../collective-name.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import { copyIfAliased } from '../plan/deliver.js'
import { type BindableCall, type BoundStart, programStart } from '../program/bound-collective.js'
import { boundRequest } from '../program/bound-request.js'
import type { PersistentRequest } from '../program/persistent-request.js'
import type { Signature } from '../signature.js'
import type { Form, Handle } from './form.js'

/** A copy of what a rank sends, made again by every start. */
interface Copy {
  readonly from: Uint8Array
  readonly to: Uint8Array
}

interface Binding {
  readonly contribution: unknown
  readonly copies: readonly Copy[]
}

/**
 * The persistent form: the call is bound to its buffers, to be started on its own lane (MPI-4.1 §6.13). Each init of a
 * rank has one object.
 */
export class PersistentForm implements Form<PersistentRequest> {
  readonly mayReuse = false
  readonly #name: CollectiveName
  readonly #buffers: readonly TypedArray[]
  readonly #agreed: Pick<Signature, 'type' | 'count'>
  readonly #runsProgram: boolean
  readonly #copies: Copy[] = []

  /**
   * @param agreed what all ranks bind alike, beyond what the call itself compares
   * @param runsProgram whether a start runs the program to which the call binds its buffers; otherwise a start makes
   *   the call with the buffers' current contents
   */
  constructor(
    name: CollectiveName,
    buffers: readonly TypedArray[],
    agreed: Pick<Signature, 'type' | 'count'>,
    runsProgram: boolean,
  ) {
    this.#name = name
    this.#buffers = buffers
    this.#agreed = agreed
    this.#runsProgram = runsProgram
  }

  /** The init has already checked the options. */
  attempt(
    comm: Handle,
    _name: string,
    _known: unknown,
    _options: unknown,
    start: (seat: Seat<CollectiveContext>) => PersistentRequest,
  ): PersistentRequest {
    return start(comm.seat())
  }

  /** Copies aliased data unless a program is bound to its buffers, which makes the necessary copies itself. */
  unaliased<P extends { readonly bytes: Uint8Array }>(into: unknown, part: P): P {
    if (this.#runsProgram) return part
    const own = copyIfAliased(into, part)
    if (own !== part) this.#copies.push({ from: part.bytes, to: own.bytes })
    return own
  }

  join<C>(seat: Seat<CollectiveContext>, call: BindableCall<C>, contribution: C): PersistentRequest {
    const signature: Signature = { ...call.signature, ...this.#agreed, name: this.#name }
    const bind = this.#runsProgram ? boundProgram<C> : repeatedCall<C>
    const binding: Binding = { contribution, copies: this.#copies }
    return boundRequest(seat, { signature, unplaced: !this.#runsProgram }, this.#buffers, binding, (all) =>
      bind(signature, call, all),
    )
  }
}

function boundProgram<C>(
  signature: Signature,
  call: BindableCall<C>,
  bindings: readonly Binding[],
): BoundStart | Promise<BoundStart> {
  const bound = call.bind!(bindings.map(({ contribution }) => contribution as C))
  if (!(bound instanceof Promise)) return programStart(signature, bound)
  return bound.then((program) => programStart(signature, program))
}

function repeatedCall<C>(
  signature: Signature,
  call: BindableCall<C>,
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
