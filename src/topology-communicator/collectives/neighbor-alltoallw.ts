import { type WaitOptions, waitOptions } from '../../base/abort.js'
import { bytesOf } from '../../base/bytes.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { checkOptions } from '../../base/option-table.js'
import type { Form } from '../../calls/collectives/collectives.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { RankFailure } from '../../calls/matching/collective-call.js'
import type { CollectiveHandle } from '../../calls/plan/collective-plan.js'
import {
  type BoundProgram,
  type PersistentRequest,
  plannedRequest,
} from '../../calls/program/planned-call.js'
import type { CollectiveName } from '../../calls/signature.js'
import { BlockStore } from '../../calls/values/block-store.js'
import { isRankweaveError, RankweaveError } from '../../errors.js'
import {
  elementSizeBytes,
  elementsIn,
  kindOf,
  type TypedArray,
  typeCode,
  typeName,
} from '../../messages/datatype/elements.js'
import { misfit, requireReceiveBuffer } from '../../messages/datatype/payload.js'
import { type ReceiveBuffer, StridedView, unpack } from '../../messages/datatype/strided-view.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import type { NeighborProgram } from '../plan/neighbor-program.js'
import { chosenAlltoall, type NeighborHandle, type Neighborhood } from '../plan/neighborhood.js'
import { contributionOf, NeighborCall } from './neighbor-call.js'
import { type EdgeBlocks, filling, openStore } from './varying-blocks.js'

/** The data that a rank sends along an edge. On a grid without a neighbor there it is null or ignored. */
export type EdgeData = TypedArray | StridedView | null

/** Options of an alltoall of blocks of various types. */
export interface EdgeBuffersOptions extends WaitOptions {
  /** The buffer for each source, exactly as long as its block. Default: fresh arrays of the types that are sent. */
  readonly into?: readonly (ReceiveBuffer | null)[]
}

const edgeBuffersOptions: OptionTable<EdgeBuffersOptions> = { ...waitOptions, ...uncheckedOptions('into') }

/** Exchanges blocks of any lengths and types. */
export function neighborAlltoallw<R>(
  form: Form<R>,
  comm: CollectiveHandle,
  neighborhood: Neighborhood,
  data: readonly EdgeData[],
  options?: EdgeBuffersOptions,
): R {
  const name = 'neighborAlltoallw'
  return form.attempt(comm, name, edgeBuffersOptions, options, (seat) => {
    const given = checkEdgeData(name, neighborhood, seat.rank, data, options?.into)
    return form.join(seat, new TypedAlltoall(neighborhood, name), given, options)
  })
}

export function neighborAlltoallwInit(
  comm: NeighborHandle,
  send: readonly EdgeData[],
  recv: readonly (ReceiveBuffer | null)[],
  options: object = {},
): PersistentRequest {
  const { neighborhood } = comm
  const seat = comm.seat()
  const name = 'neighborAlltoallwInit'
  checkOptions(name, {}, options)
  const given = checkEdgeData(name, neighborhood, seat.rank, send, recv ?? null)
  const arrays = [...send, ...recv]
    .map((each) => (each instanceof StridedView ? each.array : each))
    .filter((each): each is TypedArray => ArrayBuffer.isView(each) && !(each instanceof DataView))
  return plannedRequest(seat, new TypedAlltoall(neighborhood, name), arrays, given)
}

/** The checked arguments of a rank; the contents of blocks are read when the call runs. */
interface EdgeContribution {
  readonly data: readonly EdgeData[]
  readonly isSent: Uint8Array
  readonly into: readonly (ReceiveBuffer | null)[] | undefined
  readonly slots: number
}

/** @throws ERR_COUNT, ERR_TYPE */
function checkEdgeData(
  name: string,
  neighborhood: Neighborhood,
  rank: number,
  data: readonly EdgeData[],
  into: readonly (ReceiveBuffer | null)[] | undefined,
): EdgeContribution {
  const slots = neighborhood.slotsOf(rank)
  requireList(name, 'blocks to send', data, neighborhood.sendSlotsOf(rank))
  const isSent = neighborhood.destinationSlotsOf(rank)
  if (into !== undefined) {
    requireList(name, 'buffers to receive into', into, slots)
    for (const buffer of into) if (buffer !== null) requireReceiveBuffer(buffer)
  }
  for (const [slot, each] of data.entries()) {
    if (isSent[slot] === 1) contributionOf(`${name}: block ${slot}`, each)
  }
  // The caller owns the lists and may change them before the call runs or a request starts.
  return { data: [...data], isSent, into: into && [...into], slots }
}

function requireList(name: string, what: string, list: unknown, length: number): void {
  if (Array.isArray(list) && list.length === length) return
  const got = Array.isArray(list) ? `${list.length}` : kindOf(list)
  throw new RankweaveError('ERR_COUNT', `${name}: expected an array of ${length} ${what}, got ${got}`)
}

/**
 * An alltoall of blocks of any lengths and types. In a call that runs once a byte with the type precedes each block, so
 * receivers check the type or learn it. The init of a persistent one exchanges types and lengths; starts send only
 * elements.
 */
class TypedAlltoall extends NeighborCall<EdgeContribution> {
  readonly #name: CollectiveName

  constructor(neighborhood: Neighborhood, name: CollectiveName) {
    super({ name, type: typeCode.Uint8Array }, neighborhood)
    this.#name = name
  }

  override chosen(): Neighborhood | Promise<Neighborhood> {
    return chosenAlltoall(this.neighborhood, null)
  }

  override bindTo(
    by: Neighborhood,
    all: readonly EdgeContribution[],
    init?: Exchange,
  ): BoundProgram | Promise<BoundProgram> {
    const plan = by.operation('neighbor-alltoall')
    if (init !== undefined) return this.#boundToStarts(plan, all, init)
    const blocks = all.map(({ data, isSent }) => typedBlocks(this.#name, data, isSent))
    const store = openStore(plan, typeCode.Uint8Array, blocks)
    const fill = filling(plan, store, typeCode.Uint8Array, blocks)
    return { plan, store, fill, deliver: () => deliverTyped(plan, store, all) }
  }

  async #boundToStarts(
    plan: NeighborProgram,
    all: readonly EdgeContribution[],
    init: Exchange,
  ): Promise<BoundProgram> {
    const { program } = plan
    const { ownStart } = program
    const sent = all.flatMap(({ data }, i) =>
      Array.from({ length: ownStart[i + 1] - ownStart[i] }, (_, place) => {
        const slot = plan.slotOf(i, ownStart[i] + place)
        return () => contributionOf(`${this.#name}: block ${slot}`, data[slot])
      }),
    )
    const known = await plan.exchangeIntegers(init, 2, (words) => {
      for (const [value, read] of sent.entries()) {
        const { type, elements } = read()
        words[2 * value] = type
        words[2 * value + 1] = elements.byteLength
      }
    })
    const lengths = Int32Array.from({ length: program.valueTerm.length }, (_, value) => known[2 * value + 1])
    const store = BlockStore.of(program, 1, lengths)
    const { fills, failure } = deliveryOf(program, store, known, all)
    const outcome = [failure]
    return {
      plan,
      store,
      fill() {
        for (const [value, read] of sent.entries()) store.put(value, bytesOf(read().elements))
      },
      deliver() {
        for (const fill of fills) fill()
        return outcome
      },
    }
  }
}

/** Packs every block as bytes, behind a byte with the type of its elements. @throws ERR_TYPE */
function typedBlocks(name: string, data: readonly EdgeData[], isSent: Uint8Array): EdgeBlocks {
  const blocks = data.map((each, slot) => {
    if (isSent[slot] === 0) return null
    const { type, elements } = contributionOf(`${name}: block ${slot}`, each)
    return { type, bytes: bytesOf(elements) }
  })
  const counts = Int32Array.from(blocks, (block) => (block === null ? 0 : 1 + block.bytes.byteLength))
  const starts = new Int32Array(counts.length)
  for (let slot = 1; slot < counts.length; slot++) starts[slot] = starts[slot - 1] + counts[slot - 1]
  const elements = new Uint8Array(counts.reduce((sum, count) => sum + count, 0))
  for (const [slot, block] of blocks.entries()) {
    if (block === null) continue
    elements[starts[slot]] = block.type
    elements.set(block.bytes, starts[slot] + 1)
  }
  return { type: typeCode.Uint8Array, elements, starts, counts }
}

function deliverTyped(
  { program }: NeighborProgram,
  store: BlockStore,
  contributions: readonly EdgeContribution[],
): readonly unknown[] {
  const { fillStart, fillRank, fillSlot } = program
  const results: ((ReceiveBuffer | null)[] | RankFailure)[] = contributions.map(({ into, slots }) =>
    Array.from({ length: slots }, (_, slot) => into?.[slot] ?? null),
  )
  for (let value = 0; value + 1 < fillStart.length; value++) {
    const bytes = store.words.subarray(store.start[value], store.start[value] + store.length[value])
    for (let f = fillStart[value]; f < fillStart[value + 1]; f++) {
      const result = results[fillRank[f]]
      if (result instanceof RankFailure) continue
      const slot = fillSlot[f]
      const delivered = deliverOne(slot, bytes as Uint8Array, contributions[fillRank[f]].into?.[slot])
      if (isRankweaveError(delivered)) results[fillRank[f]] = new RankFailure(delivered)
      else result[slot] = delivered
    }
  }
  return results
}

function deliverOne(
  slot: number,
  bytes: Uint8Array,
  into: ReceiveBuffer | null | undefined,
): ReceiveBuffer | RankweaveError {
  const type = bytes[0]
  const count = (bytes.byteLength - 1) / elementSizeBytes(type)
  // The bytes are copied, because other slots may be filled from the same ones.
  const elements = elementsIn(type, bytes.slice(1))
  if (into === undefined || into === null) return elements
  const error = misfitOf(slot, type, count, into)
  if (error !== undefined) return error
  unpack(elements, into)
  return into
}

/** Returns why a block does not fit its buffer, which it has to fill. */
function misfitOf(
  slot: number,
  type: number,
  count: number,
  into: ReceiveBuffer,
): RankweaveError | undefined {
  const error = misfit(type, count, into)
  if (error !== undefined || count === into.length) return error
  const message = `neighborAlltoallw: block ${slot}: expected ${into.length} elements of a ${typeName(type)}, ${count} arrived`
  return new RankweaveError('ERR_COUNT', message, {
    details: { slot, expected: into.length, arrived: count },
  })
}

/** Returns the functions that copy every block to its buffer, and why the ranks here fail if one does not fit. */
function deliveryOf(
  { fillStart, fillRank, fillSlot }: ProcessProgram,
  { words, start, length }: BlockStore,
  known: Int32Array,
  all: readonly EdgeContribution[],
): { readonly fills: readonly (() => void)[]; readonly failure: RankFailure | undefined } {
  const fills: (() => void)[] = []
  let error: RankweaveError | undefined
  for (let value = 0; value + 1 < fillStart.length; value++) {
    const type = known[2 * value]
    const bytes = words.subarray(start[value], start[value] + length[value]) as Uint8Array
    for (let f = fillStart[value]; f < fillStart[value + 1]; f++) {
      const slot = fillSlot[f]
      const into = all[fillRank[f]].into?.[slot] ?? null
      if (into === null) continue
      const misfit = misfitOf(slot, type, bytes.byteLength / elementSizeBytes(type), into)
      if (misfit === undefined) fills.push(fillOf(type, bytes, into))
      else error ??= misfit
    }
  }
  return { fills, failure: error && new RankFailure(error) }
}

function fillOf(type: number, bytes: Uint8Array, into: ReceiveBuffer): () => void {
  if (!(into instanceof StridedView)) {
    const target = bytesOf(into)
    return () => target.set(bytes)
  }
  // Blocks of various types lie side by side, so their elements are copied to aligned memory before they are read.
  const aligned = new Uint8Array(bytes.byteLength)
  const elements = elementsIn(type, aligned)
  return () => {
    aligned.set(bytes)
    unpack(elements, into)
  }
}
