import { bytesOf, overlap } from '../../base/bytes.js'
import { algorithmOf } from '../../collective/algorithms.js'
import { RankweaveError } from '../../errors.js'
import { kindOf, type TypedArray, typeCode, typeCodeOf } from '../../messages/datatype/elements.js'
import { misfit, payloadOf } from '../../messages/datatype/payload.js'
import type { Seat } from '../../messages/process/comm-context.js'
import type { Collective } from '../../schedule/specification.js'
import { noBytes } from '../exchange.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import type { CollectivePlan } from '../plan/collective-plan.js'
import { requireRoot } from '../plan/deliver.js'
import { ElementStore, type LengthOf } from '../plan/element-store.js'
import {
  type Method,
  type MethodOptions,
  methodOf,
  methodOptionNames,
  requireInitOptions,
} from '../plan/method.js'
import { segmentLengths, unitLengths } from '../plan/move-blocks.js'
import { localIndexOf, processOfRank, ranksPerProcess } from '../plan/placement.js'
import { type Chosen, chooseMove, planMove, requireServed } from '../plan/planned-move.js'
import { blocksInRankOrder, isRankOrder } from '../plan/process-order.js'
import type { PersistentRequest } from '../program/persistent-request.js'
import { emptyStore } from '../program/run-program.js'
import { requestOf } from './request-of.js'

type CollectiveSeat = Seat<CollectiveContext>

/** @throws ERR_ARGUMENT, ERR_ALGORITHM */
export function barrierInit(seat: CollectiveSeat, options?: MethodOptions): PersistentRequest {
  const { state } = seat
  requireInitOptions('barrierInit', options, methodOptionNames)
  const method = methodOf('barrier', options)
  const chosen = chosenFor(state, 'barrier', method, 0, 'barrier-dissemination')
  const signature = { name: 'barrierInit' as const, ...named(method) }
  return requestOf(seat, signature, [], undefined, () => ({
    plan: planMove(state, chosen),
    store: emptyStore,
    fill() {},
    deliver() {},
  }))
}

/** @throws ERR_RANK, ERR_TYPE, ERR_ARGUMENT, ERR_ALGORITHM */
export function bcastInit(
  seat: CollectiveSeat,
  buffer: TypedArray,
  root: number,
  options?: MethodOptions,
): PersistentRequest {
  const { state } = seat
  requireRoot(root, state.size)
  const type = requireArray('bcastInit', buffer)
  requireInitOptions('bcastInit', options, methodOptionNames)
  const method = methodOf('bcast', options)
  const sizeBytes = buffer.byteLength
  const chosen = chosenFor(state, 'bcast', method, sizeBytes, 'bcast-binomial')
  const signature = { name: 'bcastInit' as const, root, type, count: buffer.length, ...named(method) }
  return requestOf(seat, signature, [buffer], bytesOf(buffer), (buffers) => {
    const rootIndex = localIndexOf(state, root)
    const plan = planMove(state, chosen, processOfRank(state.processes, root))
    const source = buffers[Math.max(0, rootIndex)]
    const [own, slots] = rootIndex >= 0 ? [source, noBytes] : [noBytes, source]
    const store = boundStore(plan, unitLengths(sizeBytes, plan.parts), own, slots)
    return {
      plan,
      store,
      fill() {},
      deliver() {
        for (const bytes of buffers) if (bytes !== source) bytes.set(source)
      },
    }
  })
}

/** @throws ERR_TYPE, ERR_TYPE_MISMATCH, ERR_TRUNCATE, ERR_ARGUMENT, ERR_ALGORITHM */
export function allgatherInit(
  seat: CollectiveSeat,
  send: TypedArray,
  recv: TypedArray,
  options?: MethodOptions,
): PersistentRequest {
  const { state } = seat
  const type = requireArray('allgatherInit', send)
  requireRoom('allgatherInit', type, send.length * state.size, recv)
  requireInitOptions('allgatherInit', options, methodOptionNames)
  const method = methodOf('allgather', options)
  const sizeBytes = send.byteLength
  const chosen = chosenFor(state, 'allgather', method, sizeBytes, 'allgather-bruck')
  const signature = { name: 'allgatherInit' as const, type, count: send.length, ...named(method) }
  const buffers = { send: bytesOf(send), recv: bytesOf(recv).subarray(0, sizeBytes * state.size) }
  return requestOf(seat, signature, [send, recv], buffers, (all) => {
    const { processes, size } = state
    const plan = planMove(state, chosen)
    const ranks = ranksPerProcess(processes)
    const lengths = segmentLengths((process) => ranks[process] * sizeBytes, chosen.segments)
    const result = all[0].recv
    const slots = isRankOrder(processes) ? result : new Uint8Array(result.byteLength)
    // A rank of its own process may have its block where it belongs in the result.
    const isThere = all.length === 1 && (slots === result ? isOwnSlot(seat.rank, all[0]) : false)
    const isSent = all.length === 1 && (isThere || !overlap(all[0].send, result))
    const own = isSent ? all[0].send : new Uint8Array(all.length * sizeBytes)
    const store = new ElementStore(plan.program, plan.memory(), typeCode.Uint8Array, lengths, undefined)
    const sizes = new Float64Array(size).fill(sizeBytes)
    return {
      plan,
      store,
      fill() {
        if (own !== all[0].send) for (let i = 0; i < all.length; i++) own.set(all[i].send, i * sizeBytes)
        store.bind([own], slots)
      },
      deliver() {
        store.finish()
        if (slots !== result) {
          blocksInRankOrder(state, slots, sizes).forEach((block, rank) => {
            result.set(block, rank * sizeBytes)
          })
        }
        for (let i = 1; i < all.length; i++) all[i].recv.set(result)
      },
    }
  })
}

function isOwnSlot(
  rank: number,
  { send, recv }: { readonly send: Uint8Array; readonly recv: Uint8Array },
): boolean {
  return send.buffer === recv.buffer && send.byteOffset === recv.byteOffset + rank * send.byteLength
}

function boundStore(
  plan: CollectivePlan,
  lengths: LengthOf,
  own: Uint8Array,
  slots: Uint8Array,
): ElementStore {
  const store = new ElementStore(plan.program, plan.memory(), typeCode.Uint8Array, lengths, undefined)
  store.bind([own], slots)
  return store
}

/** @throws ERR_ALGORITHM */
function chosenFor(
  state: CollectiveContext,
  collective: Collective,
  method: Method | undefined,
  sizeBytes: number,
  otherwise: string,
): Chosen {
  const chosen = chooseMove(state, collective, method, sizeBytes) ?? {
    algorithm: algorithmOf(otherwise),
    segments: method?.segments ?? 1,
  }
  requireServed(state, chosen.algorithm, chosen.segments)
  return chosen
}

function named(method: Method | undefined): { readonly method?: string } {
  return method === undefined ? {} : { method: method.name }
}

/** Wire code of the elements. @throws ERR_TYPE unless it is a typed array, which is used where it is */
export function requireArray(name: string, data: unknown): number {
  if (ArrayBuffer.isView(data) && typeCodeOf(data) !== typeCode.value) return payloadOf(data).type
  throw new RankweaveError('ERR_TYPE', `${name}: expected a typed array, got ${kindOf(data)}`)
}

/** @throws ERR_TYPE, ERR_TYPE_MISMATCH, ERR_TRUNCATE */
export function requireRoom(name: string, type: number, countElems: number, recv: unknown): void {
  requireArray(name, recv)
  const error = misfit(type, countElems, recv as TypedArray)
  if (error !== undefined) throw error
}
