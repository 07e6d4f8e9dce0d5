import { opKind, type Schedule } from './ir.js'
import { rankOfOperations } from './walk.js'

/**
 * Matches sends with receives: first in, first out per (source, destination, tag). Peers must be in range; everything
 * else may be wrong.
 *
 * @param ranks the rank of every operation
 * @returns the partner of every operation, -1 for copies, combinations and for operations without a match.
 */
export function pairMessages(schedule: Schedule, ranks: Int32Array = rankOfOperations(schedule)): Int32Array {
  const { opPeer, opTag, specification } = schedule
  const partner = new Int32Array(opPeer.length).fill(-1)
  const rankOf = (op: number): number => ranks[op]

  // Both lists are sorted by (destination, source, order); operations are already stored by rank and order.
  const sends = stableSort(operationsOfKind(schedule, opKind.send), (op) => opPeer[op], specification.ranks)
  const bySource = stableSort(
    operationsOfKind(schedule, opKind.receive),
    (op) => opPeer[op],
    specification.ranks,
  )
  const receives = stableSort(bySource, rankOf, specification.ranks)

  let s = 0
  let r = 0
  while (s < sends.length && r < receives.length) {
    const [destination, source] = [opPeer[sends[s]], rankOf(sends[s])]
    const [receiver, sender] = [rankOf(receives[r]), opPeer[receives[r]]]
    const order = destination - receiver || source - sender
    if (order !== 0) {
      if (order < 0) s++
      else r++
      continue
    }
    let sEnd = s + 1
    while (sEnd < sends.length && opPeer[sends[sEnd]] === destination && rankOf(sends[sEnd]) === source)
      sEnd++
    let rEnd = r + 1
    while (rEnd < receives.length && rankOf(receives[rEnd]) === receiver && opPeer[receives[rEnd]] === sender)
      rEnd++
    sortByTag(schedule, sends, s, sEnd)
    sortByTag(schedule, receives, r, rEnd)
    while (s < sEnd && r < rEnd) {
      const tags = opTag[sends[s]] - opTag[receives[r]]
      if (tags < 0) s++
      else if (tags > 0) r++
      else {
        partner[sends[s]] = receives[r]
        partner[receives[r]] = sends[s]
        s++
        r++
      }
    }
    s = sEnd
    r = rEnd
  }
  return partner
}

/** Sorts a range of operations by tag; most are sorted already. Those of equal tag keep their order. */
function sortByTag({ opTag }: Schedule, ops: Int32Array, from: number, end: number): void {
  for (let i = from + 1; i < end; i++) {
    if (opTag[ops[i]] >= opTag[ops[i - 1]]) continue
    ops.subarray(from, end).sort((a, b) => opTag[a] - opTag[b] || a - b)
    return
  }
}

function operationsOfKind(schedule: Schedule, kind: number): Int32Array {
  let count = 0
  for (const k of schedule.opKind) if (k === kind) count++
  const ops = new Int32Array(count)
  for (let op = 0, i = 0; op < schedule.opKind.length; op++) if (schedule.opKind[op] === kind) ops[i++] = op
  return ops
}

/** Sorts operations by a key from 0 to `keys - 1` (counting sort); equal keys keep their order. */
function stableSort(ops: Int32Array, key: (op: number) => number, keys: number): Int32Array {
  const next = new Int32Array(keys + 1)
  for (const op of ops) next[key(op) + 1]++
  for (let k = 0; k < keys; k++) next[k + 1] += next[k]
  const sorted = new Int32Array(ops.length)
  for (const op of ops) sorted[next[key(op)]++] = op
  return sorted
}
