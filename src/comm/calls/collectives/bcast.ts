import { typeCode } from '../../datatype/elements.js'
import type { ReceiveBuffer } from '../../datatype/strided-view.js'
import type { CommContext } from '../../table/comm-context.js'
import type { CollectiveCall } from '../collective-call.js'
import { copyOf, type Exchange } from '../exchange.js'
import { parentIn, sendToChildren } from '../exchange-patterns.js'
import { type Block, deliver } from './blocks/deliver.js'
import { localIndexOf } from './blocks/placement.js'
import { SharedLanding } from './blocks/shared-landing.js'

type TypedBytes = Pick<Block, 'type' | 'bytes'>

export interface BcastContribution {
  /** Only of the root: what it passed, and its bytes. */
  readonly data?: unknown
  readonly block?: TypedBytes
  readonly into?: ReceiveBuffer | undefined
}

type Contributions = readonly (BcastContribution | undefined)[]

const step = { head: 0, payload: 1 } as const
/** A head is the element type, which only the root knows, and whether the payload follows in a message of its own. */
const headBytes = 8

/**
 * A binomial tree of processes, from the root's. Large data go from the root's array into one of each process, whose other
 * ranks copy from it.
 */
export function bcastCall(
  state: CommContext,
  root: number,
): CollectiveCall<BcastContribution | undefined, unknown> {
  return {
    signature: { name: 'bcast', root },
    unplaced: true,
    run(contributions, exchange) {
      const rootIndex = localIndexOf(state, root)
      if (rootIndex >= 0) {
        const { data, block } = contributions[rootIndex]!
        if (exchange.count > 1) sendFromRoot(exchange, block!)
        return Array.from(state.localRanks, (_, localIndex) =>
          localIndex === rootIndex
            ? data
            : deliver(state, block!.type, block!.bytes, contributions[localIndex]?.into),
        )
      }
      const found = state.processOfRank(root)
      if (typeof found !== 'number')
        return found.then((process) => receive(state, process, contributions, exchange))
      return receive(state, found, contributions, exchange)
    },
  }
}

function sendFromRoot(exchange: Exchange, { type, bytes }: TypedBytes): void {
  const isInline = headBytes + bytes.byteLength <= exchange.eagerLimitBytes
  const head = new Uint8Array(headBytes + (isInline ? bytes.byteLength : 0))
  head[0] = type
  head[1] = isInline ? 0 : 1
  if (isInline) head.set(bytes, headBytes)
  sendToChildren(exchange, exchange.me, head, step.head)
  if (!isInline) sendToChildren(exchange, exchange.me, bytes, step.payload)
}

function receive(
  state: CommContext,
  root: number,
  contributions: Contributions,
  exchange: Exchange,
): undefined {
  const parent = parentIn(exchange, root)
  const intos = Array.from(state.localRanks, (_, localIndex) => contributions[localIndex]?.into)
  exchange.take(parent, step.head, (head, owned) => {
    sendToChildren(exchange, root, head, step.head)
    const type = head[0]!
    if (head[1] === 0) {
      // A decoded value may be a view of its bytes.
      const bytes = (owned || type !== typeCode.value ? head : copyOf(head)).subarray(headBytes)
      exchange.finish(intos.map((into) => deliver(state, type, bytes, into)))
      return
    }
    let landing: SharedLanding
    const room = (sizeBytes: number) => {
      landing = new SharedLanding(state, type, sizeBytes, intos)
      return landing.bytes
    }
    exchange.takeInto(parent, step.payload, room, () => {
      sendToChildren(exchange, root, landing.bytes, step.payload)
      exchange.finish(landing.results())
    })
  })
  return undefined
}
