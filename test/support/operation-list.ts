import { opKind, type Schedule } from '../../src/schedule/ir.js'

/** An operation of a schedule, to be changed at will. */
export interface ListedOperation {
  rank: number
  phase: number
  kind: number
  peer: number
  tag: number
  /** -1 where it waits for its data alone. */
  after: number
  entries: ListedEntry[]
}

export interface ListedEntry {
  block: number
  from: number
  right: number
  to: number
}

/** The operations of a schedule in their order. */
export function operationsOf(schedule: Schedule): ListedOperation[] {
  const { opStart, opPhase, opPeer, opTag, opAfter } = schedule
  const { entryStart, entryBlock, entryFrom, entryRight, entryTo } = schedule
  const operations: ListedOperation[] = []
  for (let rank = 0; rank + 1 < opStart.length; rank++) {
    for (let op = opStart[rank]; op < opStart[rank + 1]; op++) {
      const entries: ListedEntry[] = []
      for (let e = entryStart[op]; e < entryStart[op + 1]; e++) {
        entries.push({ block: entryBlock[e], from: entryFrom[e], right: entryRight[e] ?? -1, to: entryTo[e] })
      }
      const [phase, kind, peer, tag] = [opPhase[op], schedule.opKind[op], opPeer[op], opTag[op]]
      operations.push({ rank, phase, kind, peer, tag, after: opAfter[op] ?? -1, entries })
    }
  }
  return operations
}

/**
 * The schedule with other operations, which must be in ascending order of their ranks; all else is as it is
 * listed, right or wrong.
 */
export function withOperations(schedule: Schedule, operations: readonly ListedOperation[]): Schedule {
  const { ranks } = schedule.specification
  const opStart = new Int32Array(ranks + 1)
  for (const { rank } of operations) opStart[rank + 1]++
  for (let rank = 0; rank < ranks; rank++) opStart[rank + 1] += opStart[rank]
  const entries = operations.flatMap((operation) => operation.entries)
  const entryStart = new Int32Array(operations.length + 1)
  operations.forEach((operation, op) => {
    entryStart[op + 1] = entryStart[op] + operation.entries.length
  })
  const waits = operations.some(({ after }) => after !== -1)
  const hasCombinations = operations.some(({ kind }) => kind === opKind.combine)
  return {
    ...schedule,
    opStart,
    opPhase: Int32Array.from(operations, ({ phase }) => phase),
    opKind: Uint8Array.from(operations, ({ kind }) => kind),
    opPeer: Int32Array.from(operations, ({ peer }) => peer),
    opTag: Int32Array.from(operations, ({ tag }) => tag),
    opAfter: waits ? Int32Array.from(operations, ({ after }) => after) : new Int32Array(0),
    entryStart,
    entryBlock: Int32Array.from(entries, ({ block }) => block),
    entryFrom: Int32Array.from(entries, ({ from }) => from),
    entryRight: hasCombinations ? Int32Array.from(entries, ({ right }) => right) : new Int32Array(0),
    entryTo: Int32Array.from(entries, ({ to }) => to),
    phases: operations.reduce((most, { phase }) => Math.max(most, phase + 1), schedule.phases),
  }
}
