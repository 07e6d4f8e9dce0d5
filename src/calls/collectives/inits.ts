import { requireKnownOptions } from '../../base/known-options.js'
import { RankweaveError } from '../../errors.js'
import { kindOf, type TypedArray, typeCode, typeCodeOf } from '../../messages/datatype/elements.js'
import { filledBy, misfit, payloadOf } from '../../messages/datatype/payload.js'
import type { Seat } from '../../messages/process/comm-context.js'
import type { Exchange } from '../exchange/exchange.js'
import type { CollectiveContext, CollectiveHandle } from '../plan/collective-plan.js'
import { methodOptionNames, orderOptionNames } from '../plan/method.js'
import {
  type BoundStart,
  boundRequest,
  type PersistentRequest,
  type PlannedCall,
  plannedStart,
} from '../program/planned-call.js'
import type { CollectiveName, Signature } from '../signature.js'
import { copyIfAliased, layoutOf, packedDispls } from '../values/deliver.js'
import type { Form } from './collectives.js'

/**
 * Returns the elements that `recv` needs for what is sent.
 *
 * @throws ERR_COUNT
 */
type Room = (
  send: TypedArray,
  recv: TypedArray,
  comm: CollectiveHandle,
  options: BlockCounts,
  name: string,
) => number

interface BlockCounts {
  readonly counts?: ArrayLike<number>
  readonly displs?: ArrayLike<number>
}

const asMany: Room = ({ length }) => length
const ofAllRanks: Room = ({ length }, _, { size }) => size * length
/** The elements that arrive are known only when they arrive. */
const knownLater: Room = () => 0
/** Counts the elements up to the end of the blocks whose lengths are given. */
const givenBlocks: Room = (_send, _recv, { size }, options, name) => {
  const { counts, displs } = layoutOf(name, options, size)
  if (counts === undefined) return 0
  const starts = displs ?? packedDispls(counts)
  return counts.reduce((end, count, rank) => (count > 0 ? Math.max(end, starts[rank] + count) : end), 0)
}
const ownBlock: Room = ({ length }, _, { rank, size }, options, name) =>
  layoutOf(name, options, size).counts?.[rank] ?? Math.floor(length / size)
const scattered: Room = ({ length }, recv, { size }) => {
  if (length === size * recv.length) return recv.length
  const message = `scatterInit: expected ${size} blocks of ${recv.length} elements, got ${length} elements`
  throw new RankweaveError('ERR_COUNT', message)
}

interface InitRule {
  /** The options of the call; others would have no effect. */
  readonly options: Readonly<Record<string, unknown>>
  readonly room: Room
  /** The facts about `recv` that ranks compare, if the call leaves them to the root. */
  readonly agreed?: readonly ('type' | 'count')[]
  /** Whether a start runs a program that is bound to the buffers; otherwise it makes the call. */
  readonly runsProgram?: true
}

const method = methodOptionNames
const ordered = orderOptionNames
const placed = { ...method, counts: true, displs: true } as const

const rules = {
  barrierInit: { options: method, room: knownLater, runsProgram: true },
  bcastInit: { options: method, room: asMany, agreed: ['type', 'count'], runsProgram: true },
  scatterInit: { options: method, room: scattered, agreed: ['type', 'count'] },
  scattervInit: { options: { ...method, displs: true }, room: knownLater, agreed: ['type'] },
  gatherInit: { options: method, room: ofAllRanks },
  gathervInit: { options: placed, room: givenBlocks },
  allgatherInit: { options: method, room: ofAllRanks, runsProgram: true },
  allgathervInit: { options: placed, room: givenBlocks },
  alltoallInit: { options: method, room: asMany },
  alltoallvInit: { options: { ...placed, sendDispls: true }, room: givenBlocks },
  reduceInit: { options: ordered, room: asMany },
  allreduceInit: { options: ordered, room: asMany, runsProgram: true },
  reduceScatterInit: { options: { ...ordered, counts: true }, room: ownBlock },
  scanInit: { options: ordered, room: asMany },
  exscanInit: { options: ordered, room: asMany },
} satisfies Readonly<Record<string, InitRule>>

/** The buffers that a rank binds; one is missing if the rank does not send or does not receive. */
interface BoundBuffers {
  readonly send?: unknown
  readonly recv?: unknown
}

/** The form of a call that is bound to its buffers, and its options, which name the array that it fills. */
interface BoundCall<O> {
  readonly form: PersistentForm
  readonly options: O & { readonly into?: TypedArray }
}

/**
 * Checks what a rank binds to a call. All of `recv` is passed as `into`.
 *
 * @throws ERR_ARGUMENT for options that the call does not have; ERR_TYPE, ERR_TYPE_MISMATCH, ERR_COUNT, ERR_TRUNCATE
 *   for buffers
 */
export function boundCall<O extends object>(
  name: keyof typeof rules,
  comm: CollectiveHandle,
  buffers: BoundBuffers,
  options: O | undefined,
): BoundCall<O> {
  const rule: InitRule = rules[name]
  const send = 'send' in buffers ? elementsOf(name, buffers.send) : undefined
  const into = 'recv' in buffers ? elementsOf(name, buffers.recv) : undefined
  if (options !== undefined) requireKnownOptions(name, options, rule.options)
  const given = { ...options } as O
  if (send !== undefined && into !== undefined) {
    const room = rule.room(send, into, comm, given, name)
    const error = misfit(typeCodeOf(send), room, into, filledBy(name))
    if (error !== undefined) throw error
  }
  const agreed = into !== undefined && rule.agreed !== undefined ? agreedOf(into, rule.agreed) : {}
  const form = new PersistentForm(
    name,
    [send, into].filter((array) => array !== undefined),
    agreed,
    rule.runsProgram === true,
  )
  return { form, options: into === undefined ? given : { ...given, into } }
}

function agreedOf(into: TypedArray, names: readonly ('type' | 'count')[]) {
  const type = typeCodeOf(into)
  return names.includes('count') ? { type, count: into.length } : { type }
}

/**
 * Returns a typed array that can be bound. A strided view is refused, because it would be packed once instead of at
 * every start.
 *
 * @throws ERR_TYPE
 */
function elementsOf(name: string, data: unknown): TypedArray {
  if (!ArrayBuffer.isView(data) || typeCodeOf(data) === typeCode.value)
    throw new RankweaveError('ERR_TYPE', `${name}: expected a typed array, got ${kindOf(data)}`)
  payloadOf(data)
  return data as TypedArray
}

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
class PersistentForm implements Form<PersistentRequest> {
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
    comm: CollectiveHandle,
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

  join<C>(seat: Seat<CollectiveContext>, call: PlannedCall<C>, contribution: C): PersistentRequest {
    const signature: Signature = { ...call.signature, ...this.#agreed, name: this.#name }
    const bind = this.#runsProgram ? boundProgram<C> : repeatedCall<C>
    const binding: Binding = { contribution, copies: this.#copies }
    const facts = { signature, unplaced: !this.#runsProgram }
    return boundRequest(seat, facts, this.#buffers, binding, (all, init) => bind(signature, call, all, init))
  }
}

function boundProgram<C>(
  signature: Signature,
  call: PlannedCall<C>,
  bindings: readonly Binding[],
  init: Exchange,
): BoundStart | Promise<BoundStart> {
  const contributions = bindings.map(({ contribution }) => contribution as C)
  return plannedStart(signature, call, contributions, init)
}

function repeatedCall<C>(
  signature: Signature,
  call: PlannedCall<C>,
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
