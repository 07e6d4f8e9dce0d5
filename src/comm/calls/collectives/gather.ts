import { concatenate, joinBlocks, splitBlocks } from '../../../base/packing.js'
import { typeCode } from '../../datatype/elements.js'
import type { CommContext } from '../../table/comm-context.js'
import type { CollectiveCall } from '../collective-call.js'
import type { Exchange } from '../exchange.js'
import { allgatherBytes, gatherBytes } from '../exchange-patterns.js'
import type { Signature } from '../signature.js'
import { type Block, deliverAll, deliverBlocks, type Layout } from './blocks.js'
import { byRank, localIndexOf, processOfRank, ranksPerProcess } from './placement.js'

export interface GatherContribution {
  readonly block: Block
  readonly layout: Layout
}

type GatherName = 'gather' | 'gatherv' | 'allgather' | 'allgatherv'

/**
 * The four gathers: `root` is null for those with the result on every rank; names ending in v take blocks of
 * varying lengths. Each process sends the blocks of its ranks as one message, directly to the root's process or by
 * Bruck's algorithm.
 */
export function gatherCall(
  state: CommContext,
  name: GatherName,
  root: number | null,
  block: Block,
): CollectiveCall<GatherContribution, unknown> {
  const { type } = block
  const isEqual = (name === 'gather' || name === 'allgather') && type !== typeCode.value
  const sizeBytes = isEqual ? block.bytes.byteLength : null
  const wanting = root === null ? null : localIndexOf(state, root)
  const finish = (contributions: readonly GatherContribution[], blocks: readonly Uint8Array[] | null) => {
    const isFlat = blocks !== null && isEqual
    const flat = isFlat ? concatenate(blocks) : null
    return contributions.map(({ layout }, localIndex) => {
      if (blocks === null || (wanting !== null && localIndex !== wanting)) return null
      return name === 'gatherv' || name === 'allgatherv'
        ? deliverBlocks(state, type, blocks, layout)
        : deliverAll(state, type, flat, blocks, layout.into)
    })
  }
  return {
    signature: gatherSignature(name, root, block),
    run(contributions, exchange) {
      const mine = contributions.map((part) => part.block.bytes)
      if (exchange.count === 1) return finish(contributions, mine)
      return collect(state, root, mine, sizeBytes, exchange).then((blocks) => finish(contributions, blocks))
    },
  }
}

function gatherSignature(name: GatherName, root: number | null, { type, countElems }: Block): Signature {
  const isEqual = (name === 'gather' || name === 'allgather') && type !== typeCode.value
  return {
    name,
    type,
    ...(root === null ? {} : { root }),
    ...(isEqual ? { count: countElems } : {}),
  }
}

/** The blocks of all ranks in rank order; null on processes that do not get them. */
async function collect(
  state: CommContext,
  root: number | null,
  mine: readonly Uint8Array[],
  sizeBytes: number | null,
  exchange: Exchange,
): Promise<Uint8Array[] | null> {
  const { processes } = state
  const joined = joinBlocks(mine, sizeBytes)
  const messages =
    root === null
      ? await allgatherBytes(exchange, joined)
      : await gatherBytes(exchange, processOfRank(processes, root), joined)
  if (messages === null) return null
  const ranks = ranksPerProcess(processes)
  return byRank(
    processes,
    messages.map((message, process) => splitBlocks(message, ranks[process]!, sizeBytes)),
  )
}
