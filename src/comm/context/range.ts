import { RankweaveError, shown } from '../../errors.js'
import type { ContextId } from '../process/context-id.js'
import { type LocalRankTable, rankTable, StridedTable } from '../table/rank-table.js'
import type { CommState } from './comm-state.js'
import type { CommHandle, MakeHandle } from './handle.js'

/** Ranks `first`, `first + stride`, ... of a parent, `size` of them. */
interface Range {
  readonly first: number
  readonly size: number
  readonly stride: number
}

/** What a process remembers of a range of one parent: so long as the parent lives, since names must not come again. */
interface Made {
  /** How often each local rank of the parent has made it. */
  readonly times: Map<number, number>
  /** Those that not all local members have made yet, by how many there were before. */
  readonly open: Map<number, { readonly state: CommState; missing: number }>
}

const madeOf = new WeakMap<CommState, Map<string, Made>>()

/**
 * A communicator of a range of ranks, made by each member for itself: nothing is sent. Its name follows from the
 * parent's, the range, and how often it was made before, which all its members know.
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
  // The call counts only now, but ranks of one process get here in the order in which each of them called.
  const made = madeIn(state, wanted)
  const nth = made.times.get(localIndex) ?? 0
  made.times.set(localIndex, nth + 1)
  let open = made.open.get(nth)
  if (open === undefined) {
    const child = state.runtime.createContext(nameOf(state.id, wanted, nth), tableOf(parentTable, wanted))
    open = { state: child, missing: child.localRanks.length }
    made.open.set(nth, open)
  }
  if (--open.missing === 0) made.open.delete(nth)
  return make(open.state, open.state.localRanks.indexOf(place))
}

function rangeOf(size: number, first: number, last: number, stride: number): Range {
  for (const [name, rank] of [
    ['first', first],
    ['last', last],
  ] as const) {
    if (Number.isInteger(rank) && rank >= 0 && rank < size) continue
    const said = `range: expected ${name} as a rank from 0 to ${size - 1}, got ${shown(rank)}`
    throw new RankweaveError('ERR_RANK', said)
  }
  const leads = Number.isInteger(stride) && stride !== 0 && (last - first) * stride >= 0
  if (!leads) {
    throw new RankweaveError(
      'ERR_ARGUMENT',
      `range: expected a stride that leads from ${first} to ${last}, got ${shown(stride)}`,
    )
  }
  const members = Math.floor((last - first) / stride) + 1
  return { first, size: members, stride: members === 1 ? 1 : stride }
}

/** Closed where the parent's is: O(1) memory. */
function tableOf(parent: LocalRankTable, { first, size, stride }: Range): LocalRankTable {
  if (parent.kind === 'strided') return new StridedTable(size, parent.lookup(first), parent.stride * stride)
  return rankTable(Int32Array.from({ length: size }, (_, i) => parent.lookup(first + i * stride)))
}

function madeIn(state: CommState, { first, size, stride }: Range): Made {
  let all = madeOf.get(state)
  if (all === undefined) {
    all = new Map()
    madeOf.set(state, all)
  }
  const key = `${first}:${size}:${stride}`
  let made = all.get(key)
  if (made === undefined) {
    made = { times: new Map(), open: new Map() }
    all.set(key, made)
  }
  return made
}

/**
 * 52 bits of hash, apart from all drawn names. Two communicators of one process that get the same one are found out when
 * the second is made (ERR_WORLD): for a thousand at a time the odds are 1 in 10^10.
 */
function nameOf({ leader, counter }: ContextId, { first, size, stride }: Range, nth: number): ContextId {
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
