import { opKind, type Schedule } from '../ir.js'
import type { ViolationList } from './violations.js'

/**
 * Checks that every send has its receive and that both name the same blocks in the same order.
 *
 * @param ranks the rank of every operation
 * @param isPresent the ranks that a slice has; messages with others are skipped. Null for all.
 * @returns the number of skipped messages
 */
export function checkMessages(
  schedule: Schedule,
  ranks: Int32Array,
  partner: Int32Array,
  found: ViolationList,
  isPresent: Uint8Array | null = null,
): number {
  const { entryStart, entryBlock, opPeer, opPhase, opTag } = schedule
  let passedOver = 0
  for (let op = 0; op < partner.length; op++) {
    const kind = schedule.opKind[op]
    if (kind > opKind.receive) continue
    const rank = ranks[op]
    const phase = opPhase[op]
    const other = partner[op]
    if (other === -1) {
      if (isPresent?.[opPeer[op]] === 0) {
        passedOver++
        continue
      }
      const message = `with tag ${opTag[op]} in phase ${phase}`
      if (kind === opKind.send) {
        found.add(
          'send-unmatched',
          rank,
          phase,
          () => `rank ${rank} sends rank ${opPeer[op]} a message ${message}, which is never received`,
        )
      } else {
        found.add(
          'receive-unmatched',
          rank,
          phase,
          () => `rank ${rank} expects from rank ${opPeer[op]} a message ${message}, which is never sent`,
        )
      }
      continue
    }
    if (kind === opKind.receive) continue // the sender reports it, once
    const length = entryStart[op + 1] - entryStart[op]
    let same = entryStart[other + 1] - entryStart[other] === length
    for (let i = 0; same && i < length; i++) {
      same = entryBlock[entryStart[op] + i] === entryBlock[entryStart[other] + i]
    }
    if (same) continue
    found.add('blocks-differ', rank, phase, () => {
      const sent = blocksOf(schedule, op)
      const expected = blocksOf(schedule, other)
      return `rank ${rank} sends blocks ${sent} to rank ${opPeer[op]} with tag ${opTag[op]}, but rank ${opPeer[op]} expects blocks ${expected}`
    })
  }
  return passedOver
}

function blocksOf(schedule: Schedule, op: number): string {
  const blocks = schedule.entryBlock.subarray(schedule.entryStart[op], schedule.entryStart[op + 1])
  const shown = Array.from(blocks.subarray(0, 8)).join(', ')
  return `[${shown}${blocks.length > 8 ? `, ... ${blocks.length} in all` : ''}]`
}
