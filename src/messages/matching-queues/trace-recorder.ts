import { GrowingInt32Array } from '../../base/growing-array.js'
import type { MatchingOperation } from './operation.js'

/** Operations that all recorders of a process may still record: what bounds its memory. */
export interface RecordBudget {
  operations: number
}

type RecordedKind = MatchingOperation['kind']

/** By their code in a record. */
const kinds: readonly RecordedKind[] = ['post', 'arrive', 'probe', 'mprobe', 'cancel']
const kindBits = 3
const wordsPerRecord = 4
/** Bytes of a longer message are recorded as these. */
const mostBytes = 2 ** 32 - 1

/** Bytes that a recorder holds for each operation, up to twice as many while it grows. */
export const recordedOperationBytes = 4 * wordsPerRecord

/**
 * Records the first operations of one rank, in 16 bytes each: context and kind, source, tag, bytes. A trace that
 * is bounded ends where the operations were more than it may hold; what follows is not recorded.
 */
export class TraceRecorder {
  /** World rank. */
  readonly rank: number
  /** Ranks of the communicators that occur, by their contexts. */
  readonly communicatorSizes = new Map<number, number>()
  readonly #words = new GrowingInt32Array()
  readonly #mostOperations: number
  readonly #budget: RecordBudget
  #receives = 0
  #bounded = false

  constructor(rank: number, mostOperations: number, budget: RecordBudget) {
    this.rank = rank
    this.#mostOperations = mostOperations
    this.#budget = budget
  }

  get length(): number {
    return this.#words.length / wordsPerRecord
  }

  /** Whether operations have been left out. */
  get bounded(): boolean {
    return this.#bounded
  }

  /** Records the start of a receive. Returns its number, which a cancel names; -1 if it is left out. */
  post(context: number, source: number, tag: number): number {
    return this.#record(0, context, source, tag, 0) ? this.#receives++ : -1
  }

  arrive(context: number, source: number, tag: number, bytes: number): void {
    this.#record(1, context, source, tag, Math.min(bytes, mostBytes))
  }

  probe(context: number, source: number, tag: number): void {
    this.#record(2, context, source, tag, 0)
  }

  mprobe(context: number, source: number, tag: number): void {
    this.#record(3, context, source, tag, 0)
  }

  /** @param receive number of a post that was recorded */
  cancel(receive: number): void {
    this.#record(4, 0, receive, 0, 0)
  }

  /** What was recorded, in its order. */
  *operations(): Generator<MatchingOperation> {
    const words = this.#words.view()
    for (let at = 0; at < words.length; at += wordsPerRecord) {
      const kind = kinds[words[at] & (2 ** kindBits - 1)]
      const [context, source, tag] = [words[at] >>> kindBits, words[at + 1], words[at + 2]]
      if (kind === 'cancel') yield { kind, receive: source }
      else if (kind === 'arrive') yield { kind, context, source, tag, bytes: words[at + 3] >>> 0 }
      else yield { kind, context, source, tag }
    }
  }

  #record(kind: number, context: number, source: number, tag: number, bytes: number): boolean {
    if (this.#bounded) return false
    if (this.length === this.#mostOperations || this.#budget.operations === 0) {
      this.#bounded = true
      return false
    }
    this.#budget.operations--
    const words = this.#words
    words.push((context << kindBits) | kind)
    words.push(source)
    words.push(tag)
    words.push(bytes | 0)
    return true
  }
}
