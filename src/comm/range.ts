import { RankweaveError, shown, wrongValue } from '../errors.js'
import type { ContextId } from '../messages/process/frames.js'
import { RangeContexts, type RankInterval } from './comm-state.js'
import type { CommHandle, MakeHandle } from './handle.js'
import { type LocalRankTable, rankTable, StridedTable } from './table/rank-table.js'

/**
 * Makes a communicator of a range of ranks, which each member makes for itself: nothing is sent. Its name follows from
 * the parent's, the range, and how often it was made before, which all its members know.
 */
export async function range<H>(
  comm: CommHandle,
  make: MakeHandle<H>,
  first: number,
  last: number,
  stride: number,
): Promise<H | null> {
  const { state, localIndex, rank } = comm.seat()
  const wanted = rangeOf(state.size, first, last, stride)
  const place = (rank - first) / stride
  if (!Number.isInteger(place) || place < 0 || place >= wanted.size) return null
  const parentTable = await state.place()
  // The call counts only from here, but ranks of one process get here in the order of their calls.
  state.ranges ??= new RangeContexts()
  const child = state.ranges.next(wanted, localIndex, (nth) => {
    const made = state.runtime.createContext(
      nameOf(state.id, wanted, nth),
      tableOf(parentTable, wanted),
      undefined,
      state.matchingDesigns,
    )
    made.made = {
      call: `range(${first}, ${last}${stride === 1 ? '' : `, ${stride}`})`,
      parent: state.id,
      at: '',
    }
    return made
  })
  return make(child, child.localRanks.indexOf(place))
}

function rangeOf(size: number, first: number, last: number, stride: number): RankInterval {
  for (const [name, rank] of [
    ['first', first],
    ['last', last],
  ] as const) {
    if (Number.isInteger(rank) && rank >= 0 && rank < size) continue
    const message = `range: expected ${name} as a rank from 0 to ${size - 1}, got ${shown(rank)}`
    throw new RankweaveError('ERR_RANK', message)
  }
  const leads = Number.isInteger(stride) && stride !== 0 && (last - first) * stride >= 0
  if (!leads)
    throw wrongValue('ERR_ARGUMENT', `range: expected a stride that leads from ${first} to ${last}`, stride)
  const members = Math.floor((last - first) / stride) + 1
  return { first, size: members, stride: members === 1 ? 1 : stride }
}

/** Returns the table of a range: in closed form, O(1) memory, if the parent's table is. */
function tableOf(parent: LocalRankTable, { first, size, stride }: RankInterval): LocalRankTable {
  if (parent.kind === 'strided') return new StridedTable(size, parent.lookup(first), parent.stride * stride)
  return rankTable(Int32Array.from({ length: size }, (_, i) => parent.lookup(first + i * stride)))
}

/**
 * Names a communicator by 52 bits of hash, distinct from all drawn names. If two communicators of one process get the
 * same name, making the second fails with ERR_WORLD; for a thousand communicators at a time the probability is 10^-10.
 */
function nameOf(
  { leader, counter }: ContextId,
  { first, size, stride }: RankInterval,
  nth: number,
): ContextId {
  const values = [leader, counter, first, size, stride, nth]
  return {
    leader: -1 - (mixed(values, 0x2545f491) & 0x1fffff),
    counter: 1 + (mixed(values, 0x9e3779b9) % (2 ** 31 - 1)),
  }
}

function mixed(values: readonly number[], seed: number): number {
  let hash = seed
  for (const value of values) {
    hash = Math.imul(hash ^ value, 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    hash ^= hash >>> 16
  }
  return hash >>> 0
}
