import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MatchingOperation } from '../../src/messages/matching-queues/matching-trace.js'
import {
  type RecordedMatching,
  readCallRecords,
  recordedMatching,
  summarizedTrace,
} from '../../src/shim/recorded-matching.js'

/** What the processes of a program have recorded in a folder. */
export function matchingIn(folder: string, ranks: number): RecordedMatching {
  return recordedMatching(ranks, (rank) => {
    const file = join(folder, `calls-${rank}.bin`)
    return readCallRecords(file, readFileSync(file))
  })
}

/** Short words for operations: `post 0:1/5` is of context 0, source 1 and tag 5. */
export function operationWords(operations: Iterable<MatchingOperation>): string[] {
  return [...operations].map((operation) => {
    if (operation.kind === 'cancel') return `cancel ${operation.receive}`
    const { kind, context, source, tag } = operation
    return `${kind} ${context}:${source === -1 ? '*' : source}/${tag === -1 ? '*' : tag}`
  })
}

/** Receives of a rank that get another message in its trace than in the program. */
export function otherMatchesOf(matching: RecordedMatching, rank: number): number {
  const { lines, summary } = summarizedTrace(matching.process(rank), matching.isBounded)
  for (const _ of lines);
  return summary().otherMatches
}

/** A record as the library writes it: kind, ns, communicator, peer, tag, value. */
export type RecordFields = readonly [
  kind: number,
  time: number,
  communicator: number,
  peer: number,
  tag: number,
  value: number,
]

/** The file of a process. */
export function recordBytes(records: readonly RecordFields[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(32 * records.length))
  for (const [at, [kind, time, communicator, peer, tag, value]] of records.entries()) {
    bytes.setBigInt64(32 * at, BigInt(time), true)
    bytes.setBigInt64(32 * at + 8, BigInt(value), true)
    for (const [word, number] of [kind, communicator, peer, tag].entries())
      bytes.setInt32(32 * at + 16 + 4 * word, number, true)
  }
  return new Uint8Array(bytes.buffer)
}
