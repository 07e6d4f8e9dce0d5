import type { ReceiveBuffer } from '../../datatype/strided-view.js'
import type { CommContext } from '../../table/comm-context.js'
import type { CollectiveCall } from '../collective-call.js'
import type { Exchange } from '../exchange.js'
import { bcastBytes } from '../exchange-patterns.js'
import { type Block, deliver } from './blocks.js'
import { localIndexOf } from './placement.js'

type TypedBytes = Pick<Block, 'type' | 'bytes'>

export interface BcastContribution {
  /** Only of the root: what it passed, and its bytes. */
  readonly data?: unknown
  readonly block?: TypedBytes
  readonly into?: ReceiveBuffer | undefined
}

/** A binomial tree of processes, from the root's; the ranks of a process copy from its block. */
export function bcastCall(
  state: CommContext,
  root: number,
): CollectiveCall<BcastContribution | undefined, unknown> {
  return {
    signature: { name: 'bcast', root },
    unplaced: true,
    run(contributions, exchange) {
      const rootIndex = localIndexOf(state, root)
      const mine = rootIndex < 0 ? undefined : contributions[rootIndex]!.block!
      const finish = (block: TypedBytes) =>
        Array.from(state.localRanks, (_, localIndex) =>
          localIndex === rootIndex
            ? contributions[rootIndex]!.data
            : deliver(state, block.type, block.bytes, contributions[localIndex]?.into),
        )
      return exchange.count === 1 ? finish(mine!) : spread(state, root, mine, exchange).then(finish)
    },
  }
}

async function spread(
  state: CommContext,
  root: number,
  mine: TypedBytes | undefined,
  exchange: Exchange,
): Promise<TypedBytes> {
  const packed = mine === undefined ? null : withType(mine)
  const found = state.processOfRank(root)
  const process = typeof found === 'number' ? found : await found
  const bytes = await bcastBytes(exchange, process, packed)
  return mine ?? typedBlock(bytes)
}

/** Only the root knows the element type, so it precedes the bytes. */
function withType({ type, bytes }: TypedBytes): Uint8Array {
  const packed = new Uint8Array(8 + bytes.byteLength)
  packed[0] = type
  packed.set(bytes, 8)
  return packed
}

function typedBlock(packed: Uint8Array): TypedBytes {
  return { type: packed[0]!, bytes: packed.subarray(8) }
}
