import { whenThere } from '../../base/turn.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { type BoundProgram, type PlannedCall, runOnce } from '../../calls/program/planned-call.js'
import type { Signature } from '../../calls/signature.js'
import { RankweaveError } from '../../errors.js'
import { kindOf, type TypedArray, typeCode, typeCodeOf } from '../../messages/datatype/elements.js'
import { filledBy, misfit, payloadOf } from '../../messages/datatype/payload.js'
import { pack, StridedView } from '../../messages/datatype/strided-view.js'
import type { Neighborhood } from '../plan/neighborhood.js'

/**
 * A neighborhood collective, whatever its form: the ranks of a process agree on a signature, a neighborhood is chosen
 * whose plan moves their data, and its program is bound to what they pass.
 */
export abstract class NeighborCall<C> implements PlannedCall<C> {
  readonly signature: Signature
  readonly unplaced: boolean
  readonly neighborhood: Neighborhood

  constructor(signature: Signature, neighborhood: Neighborhood) {
    this.signature = signature
    this.unplaced = neighborhood.isLocated
    this.neighborhood = neighborhood
  }

  run(all: readonly C[], exchange: Exchange): undefined | Promise<undefined> {
    return whenThere(this.chosen(all), (by) =>
      whenThere(this.bindTo(by, all), (bound) => runOnce(bound, exchange)),
    )
  }

  bind(all: readonly C[], init: Exchange): BoundProgram | Promise<BoundProgram> {
    return whenThere(this.chosen(all), (by) => this.bindTo(by, all, init))
  }

  /** Returns the neighborhood whose plan moves the data. */
  abstract chosen(all: readonly C[]): Neighborhood | Promise<Neighborhood>

  /**
   * Binds what the ranks here pass to the program of a neighborhood.
   *
   * @param init the exchange of a persistent call's init, in which processes may agree on lengths; undefined for a call
   *   that runs once
   */
  abstract bindTo(by: Neighborhood, all: readonly C[], init?: Exchange): BoundProgram | Promise<BoundProgram>
}

/** The checked contribution of a rank to a neighborhood collective. */
interface Contribution {
  readonly type: number
  readonly elements: TypedArray
}

/** @throws ERR_TYPE unless the data are a typed array, or a strided view of one, with a fixed buffer */
export function contributionOf(name: string, data: unknown): Contribution {
  const isArray = data instanceof StridedView || typeCodeOf(data) !== typeCode.value
  if (!isArray) {
    throw new RankweaveError(
      'ERR_TYPE',
      `${name}: expected a typed array or a strided view of one, got ${kindOf(data)}`,
    )
  }
  const { type, data: elements } = payloadOf(data)
  return { type, elements: elements instanceof StridedView ? pack(elements) : elements }
}

/**
 * Checks a receive buffer for `countElems` elements of a type.
 *
 * @param sources how many blocks they are, of equal length, if known
 * @throws ERR_TYPE unless it is a typed array with a fixed buffer; ERR_TYPE_MISMATCH, ERR_TRUNCATE when the elements do
 *   not fit
 */
export function checkInto(
  name: string,
  into: unknown,
  type: number,
  countElems: number,
  sources?: number,
): void {
  if (into === undefined) return
  if (typeCodeOf(into) === typeCode.value) {
    const message = `${name}: expected a typed array to receive into, got ${kindOf(into)}`
    throw new RankweaveError('ERR_TYPE', message)
  }
  payloadOf(into)
  const error = misfit(type, countElems, into as TypedArray, filledBy(name))
  if (error === undefined) return
  const { code, message, details } = error
  if (code !== 'ERR_TRUNCATE' || sources === undefined) throw error
  const blocks = sources === 1 ? 'of one source' : `${countElems / sources} of each of ${sources} sources`
  throw new RankweaveError(code, `${message}: ${blocks}`, { details })
}

/**
 * Checks the buffers that a rank binds to a persistent collective. It refuses strided views, which would be packed once
 * instead of at every start.
 *
 * @throws ERR_TYPE
 */
export function boundElements(
  name: string,
  send: unknown,
  recv: unknown,
): Contribution & { readonly into: TypedArray } {
  if (!ArrayBuffer.isView(send) || recv === undefined || recv === null)
    throw new RankweaveError('ERR_TYPE', `${name}: expected typed arrays to send from and to receive into`)
  return { ...contributionOf(name, send), into: recv as TypedArray }
}
