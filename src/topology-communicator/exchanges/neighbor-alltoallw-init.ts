import { bytesOf } from '../../base/bytes.js'
import { checkOptions } from '../../base/option-table.js'
import { RankFailure } from '../../calls/matching/collective-call.js'
import { programStart } from '../../calls/program/bound-collective.js'
import type { PersistentRequest } from '../../calls/program/persistent-request.js'
import { boundRequest } from '../../calls/program/persistent-request.js'
import type { Signature } from '../../calls/signature.js'
import type { RankweaveError } from '../../errors.js'
import { elementSizeBytes, elementsIn, type TypedArray, typeCode } from '../../messages/datatype/elements.js'
import { type ReceiveBuffer, StridedView, unpack } from '../../messages/datatype/strided-view.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { chosenAlltoall } from '../execute/chosen.js'
import { exchangeLengths } from '../execute/exchange-lengths.js'
import { countRun } from '../execute/neighbor-traffic.js'
import type { NeighborHandle } from '../execute/neighborhood.js'
import { BlockStore } from '../memory/block-store.js'
import { contributionOf } from '../memory/buffers.js'
import { checkEdgeData, type EdgeContribution, type EdgeData, misfitOf } from './neighbor-alltoallw.js'

/** Exchanges types and lengths once; starts send only elements. */
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
  const signature: Signature = { name, type: typeCode.Uint8Array }
  const arrays = [...send, ...recv]
    .map((each) => (each instanceof StridedView ? each.array : each))
    .filter((each): each is TypedArray => ArrayBuffer.isView(each) && !(each instanceof DataView))
  const call = { signature, unplaced: neighborhood.isLocated }
  return boundRequest(seat, call, arrays, given, async (all, exchange) => {
    const operation = (await chosenAlltoall(neighborhood, null)).operation('neighbor-alltoall')
    const { program } = operation
    const { traffic } = neighborhood
    const { ownStart } = program
    const sent = all.flatMap(({ data }, i) =>
      Array.from({ length: ownStart[i + 1] - ownStart[i] }, (_, place) => {
        const slot = operation.slotOf(i, ownStart[i] + place)
        return () => contributionOf(`${name}: block ${slot}`, data[slot])
      }),
    )
    const known = await exchangeLengths(program, traffic, exchange, 2, (words) => {
      for (const [value, read] of sent.entries()) {
        const { type, elements } = read()
        words[2 * value] = type
        words[2 * value + 1] = elements.byteLength
      }
    })
    const lengths = Int32Array.from({ length: program.valueTerm.length }, (_, value) => known[2 * value + 1])
    const store = BlockStore.of(program, 1, lengths)
    const { fills, failure } = deliveryOf(program, store, known, all)
    return programStart(signature, {
      program,
      store,
      fill() {
        for (const [value, read] of sent.entries()) store.put(value, bytesOf(read().elements))
      },
      deliver() {
        countRun(traffic, program.counts)
        for (const fill of fills) fill()
        return failure
      },
    })
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
