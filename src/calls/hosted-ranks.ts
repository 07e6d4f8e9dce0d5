import { RankweaveError, shown } from '../errors.js'
import type { CommContext, ListedHandles, RankHandle } from '../messages/process/comm-context.js'

export interface HostedRanks<S extends CommContext> {
  readonly state: S
  /** The local indices in the order in which they were listed; undefined if that is ascending. */
  readonly places: Int32Array | undefined
  /** The list. All handles are in an ordinary array, because optimized code reads frozen arrays slowly. */
  readonly list: ArrayLike<unknown>
}

/**
 * Returns the communicator whose ranks here are listed: by their handles, or by objects that belong to one handle each.
 *
 * @param noun what is listed, for messages
 * @throws ERR_ARGUMENT unless they are all ranks of one communicator in this process, each once
 */
export function hostedBy<S extends CommContext>(
  where: string,
  noun: string,
  list: ArrayLike<Pick<RankHandle<S>, 'seat' | 'placeIn'>>,
): HostedRanks<S> {
  const refuse = (got: string) => {
    const expected = `the ${noun} of all ranks of one communicator in this process, each once`
    return new RankweaveError('ERR_ARGUMENT', `${where}: expected ${expected}, got ${got}`)
  }
  if (typeof list !== 'object' || list === null || !(list.length > 0)) throw refuse(shown(list))
  if (typeof list[0]?.seat !== 'function') throw refuse(`${shown(list[0])} at place 0`)
  const { state } = list[0].seat()
  const known = state.listedHandles
  if (known !== undefined && areSame(list, known)) return { state, places: undefined, list: known.handles }
  let places: Int32Array | undefined
  for (let n = 0; n < list.length; n++) {
    if (typeof list[n]?.placeIn !== 'function') throw refuse(`${shown(list[n])} at place ${n}`)
    const place = list[n].placeIn(state)
    if (place < 0) throw refuse(`one of another communicator at place ${n}`)
    if (place !== n) places ??= Int32Array.from({ length: list.length }, (_, i) => i)
    if (places !== undefined) places[n] = place
  }
  if (places !== undefined && new Set(places).size < places.length) throw refuse('one of them more than once')
  const { length } = state.localRanks
  if (list.length !== length) throw refuse(`${list.length} of ${length}`)
  if (places !== undefined || (list[0] as unknown) !== list[0].seat().handle) return { state, places, list }
  const handles = Array.from(list)
  state.listedHandles = { frozen: Object.isFrozen(list) ? list : undefined, handles }
  return { state, places, list: handles }
}

function areSame(list: ArrayLike<unknown>, { frozen, handles }: ListedHandles): boolean {
  if (list === frozen) return true
  if (list.length !== handles.length) return false
  for (let n = 0; n < handles.length; n++) if (list[n] !== handles[n]) return false
  return true
}
