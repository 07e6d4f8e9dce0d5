import { concatenate, joinBlocks, splitBlocks } from '../../../base/packing.js'
import { typeCode } from '../../datatype/elements.js'
import type { CollectiveCall } from '../collective-call.js'
import { copyOf, type Exchange } from '../exchange.js'
import { allgatherThen } from '../exchange-patterns.js'
import type { Signature } from '../signature.js'
import { isLong } from './blocks/block-list.js'
import { type Block, deliverAll, deliverBlocks, type Layout } from './blocks/deliver.js'
import { byRank, localIndexOf, processOfRank, ranksByProcess, ranksPerProcess } from './blocks/placement.js'
import { SharedLanding } from './blocks/shared-landing.js'
import { gatherLists } from './gather-lists.js'
import type { CollectiveContext } from './plan/collective-context.js'
import type { Method } from './plan/method.js'
import { chooseMove, requireServed } from './plan/planned-move.js'
import { gatherEqual, gatherVarying } from './planned-gather.js'

export interface GatherContribution {
  readonly block: Block
  readonly layout: Layout
}

type Contributions = readonly GatherContribution[]
type GatherName = 'gather' | 'gatherv' | 'allgather' | 'allgatherv'

/**
 * The four gathers: `root` is null for those with the result on every rank; names ending in v take blocks of
 * varying lengths. Short blocks of the ranks of a process are sent as one message, directly to the root's process or by
 * Bruck's algorithm; long ones one by one, each from its rank's array straight into a result.
 */
export function gatherCall(
  state: CollectiveContext,
  name: GatherName,
  root: number | null,
  block: Block,
  method: Method | undefined,
): CollectiveCall<GatherContribution, unknown> {
  const { type } = block
  const isEqual = (name === 'gather' || name === 'allgather') && type !== typeCode.value
  const isVarying = name === 'gatherv' || name === 'allgatherv'
  const sizeBytes = block.bytes.byteLength
  const wanting = root === null ? null : localIndexOf(state, root)
  const wants = (localIndex: number) => wanting === null || wanting === localIndex
  const finish = (contributions: Contributions, blocks: readonly Uint8Array[]) => {
    const flat = isEqual ? concatenate(blocks) : null
    return contributions.map(({ layout }, localIndex) => {
      if (!wants(localIndex)) return null
      return isVarying
        ? deliverBlocks(state, type, blocks, layout)
        : deliverAll(state, type, flat, blocks, layout.into)
    })
  }
  const isAll = root === null
  const chosen =
    isEqual || method?.algorithm !== undefined
      ? chooseMove(state, isAll ? 'allgather' : 'gather', method, sizeBytes)
      : null
  if (chosen !== null) requireServed(state, chosen.algorithm, chosen.segments)
  return {
    signature: gatherSignature(name, root, block, method),
    run(contributions, exchange) {
      const mine = contributions.map((part) => part.block.bytes)
      if (exchange.count === 1) return finish(contributions, mine)
      const rootProcess = root === null ? null : processOfRank(state.processes, root)
      if (chosen !== null && isEqual) {
        const wanted = contributions.map(({ layout }, index) => (wants(index) ? layout.into : null))
        gatherEqual(state, chosen, rootProcess, type, mine, wanted, exchange)
      } else if (chosen !== null) {
        gatherVarying(state, chosen, rootProcess, mine, exchange, (blocks) =>
          exchange.finish(blocks === null ? mine.map(() => null) : finish(contributions, blocks)),
        )
      } else if (!isEqual) {
        const layouts = contributions.map(({ layout }, index) => (wants(index) ? layout : null))
        gatherLists(state, rootProcess, isVarying ? type : null, mine, layouts, exchange)
      } else if (isLong(exchange, sizeBytes)) {
        const wanted = contributions.map(({ layout }, index) => (wants(index) ? layout.into : null))
        const landing = () => new SharedLanding(state, type, state.size * sizeBytes, wanted)
        gatherLong(state, rootProcess, mine, sizeBytes, landing, exchange)
      } else {
        gatherShort(state, rootProcess, mine, sizeBytes, exchange, (blocks) =>
          exchange.finish(blocks === null ? mine.map(() => null) : finish(contributions, blocks)),
        )
      }
      return undefined
    },
  }
}

function gatherSignature(
  name: GatherName,
  root: number | null,
  { type, countElems }: Block,
  method: Method | undefined,
): Signature {
  const isEqual = (name === 'gather' || name === 'allgather') && type !== typeCode.value
  return {
    name,
    type,
    ...(root === null ? {} : { root }),
    ...(isEqual ? { count: countElems } : {}),
    ...(method === undefined ? {} : { method: method.name }),
  }
}

/** `done` gets the blocks of all ranks in rank order; null on processes that do not want them. */
function gatherShort(
  state: CollectiveContext,
  root: number | null,
  mine: readonly Uint8Array[],
  sizeBytes: number,
  exchange: Exchange,
  done: (blocks: readonly Uint8Array[] | null) => void,
): void {
  const { processes } = state
  const joined = joinBlocks(mine, sizeBytes)
  const split = (messages: readonly Uint8Array[]) => {
    const ranks = ranksPerProcess(processes)
    const perProcess = messages.map((message, process) => splitBlocks(message, ranks[process]!, sizeBytes))
    done(byRank(processes, perProcess))
  }
  if (root === null) {
    allgatherThen(exchange, joined, 0, split)
    return
  }
  if (exchange.me !== root) {
    exchange.send(root, 0, joined)
    done(null)
    return
  }
  const messages: Uint8Array[] = []
  messages[root] = joined
  let missing = exchange.count - 1
  for (let peer = 0; peer < exchange.count; peer++) {
    if (peer === root) continue
    exchange.take(peer, 0, (bytes, owned) => {
      messages[peer] = owned ? bytes : copyOf(bytes)
      if (--missing === 0) split(messages)
    })
  }
}

/** Every process sends its blocks to all that want them: no copy but into the result, and no link carries a block twice. */
function gatherLong(
  state: CollectiveContext,
  root: number | null,
  mine: readonly Uint8Array[],
  sizeBytes: number,
  newLanding: () => SharedLanding,
  exchange: Exchange,
): void {
  const { me, count } = exchange
  const sendTo = (peer: number) => {
    for (const block of mine) exchange.send(peer, 0, block)
  }
  if (root === null) for (let distance = 1; distance < count; distance++) sendTo((me + distance) % count)
  else if (me !== root) {
    sendTo(root)
    exchange.finish(mine.map(() => null))
    return
  }
  const landing = newLanding()
  const place = (rank: number) => landing.bytes.subarray(rank * sizeBytes, (rank + 1) * sizeBytes)
  for (const [localIndex, block] of mine.entries()) place(state.localRanks[localIndex]!).set(block)
  const ranks = ranksByProcess(state)
  let missing = state.size - mine.length
  for (let distance = 1; distance < count; distance++) {
    const peer = (me - distance + count) % count
    for (const rank of ranks[peer]!) {
      exchange.takeInto(
        peer,
        0,
        () => place(rank),
        () => {
          if (--missing === 0) exchange.finish(landing.results())
        },
      )
    }
  }
}
