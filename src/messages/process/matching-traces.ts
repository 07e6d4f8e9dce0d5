import { GrowingInt32Array } from '../../base/growing-array.js'
import { type Collective, collectives } from '../../schedule/specification.js'
import type { MatchingOperation } from '../matching-queues/matching-trace.js'
import { defaultTraceOperations, type MatchingOptions } from './matching-options.js'

/** The most operations that one process records of all its ranks: 320 MiB. */
export const mostProcessOperations = 2 ** 24

/** Records the matching of one process, by rank; communicators are numbered in the order of their first message. */
export class MatchingTraces {
  readonly #recorders = new Map<number, TraceRecorder>()
  readonly #contexts = new Map<number, number>()
  readonly #mostOperations: number
  readonly #budget: RecordBudget = { operations: mostProcessOperations }

  readonly hasCollectives: boolean

  constructor({ traceOperations = defaultTraceOperations, traceCollectives = false }: MatchingOptions) {
    this.#mostOperations = traceOperations
    this.hasCollectives = traceCollectives
  }

  recorder(worldRank: number): TraceRecorder {
    let recorder = this.#recorders.get(worldRank)
    if (recorder === undefined) {
      recorder = new TraceRecorder(worldRank, this.#mostOperations, this.#budget)
      this.#recorders.set(worldRank, recorder)
    }
    return recorder
  }

  /**
   * Returns the watch that notes the operations of a rank on one communicator.
   *
   * @param key of the communicator, `contextKey`
   * @param size its ranks
   */
  watch(key: number, size: number, worldRank: number): MatchingWatch {
    const context = this.#contexts.get(key) ?? this.#contexts.size
    this.#contexts.set(key, context)
    const recorder = this.recorder(worldRank)
    recorder.communicatorSizes.set(context, size)
    return new MatchingWatch(recorder, context)
  }
}

/** Notes the operations of one mailbox. Each is noted before it takes place, whatever design holds the queues. */
export class MatchingWatch {
  readonly #recorder: TraceRecorder
  readonly #context: number
  /** The receives that a cancel may name. */
  readonly #numbers = new WeakMap<object, number>()

  constructor(recorder: TraceRecorder, context: number) {
    this.#recorder = recorder
    this.#context = context
  }

  post(receive: object, source: number, tag: number): void {
    const number = this.#recorder.post(this.#context, source, tag)
    if (number >= 0) this.#numbers.set(receive, number)
  }

  /** @param of the call of a collective that the message is part of */
  arrive(source: number, tag: number, bytes: number, of?: RecordedCall): void {
    this.#recorder.arrive(this.#context, source, tag, bytes, of)
  }

  postInCall(source: number, tag: number, of: RecordedCall): void {
    this.#recorder.post(this.#context, source, tag, of)
  }

  probe(source: number, tag: number): void {
    this.#recorder.probe(this.#context, source, tag)
  }

  /** Notes a message that a matched probe without waiting takes, or that leaves matching otherwise. */
  mprobe(source: number, tag: number): void {
    this.#recorder.mprobe(this.#context, source, tag)
  }

  cancel(receive: object): void {
    const number = this.#numbers.get(receive)
    if (number !== undefined) this.#recorder.cancel(number)
  }
}

/** The operations that all recorders of a process may still record, which bounds its memory. */
interface RecordBudget {
  operations: number
}

type RecordedKind = MatchingOperation['kind']

const kinds: readonly RecordedKind[] = ['post', 'arrive', 'probe', 'mprobe', 'cancel']
const kindBits = 3
/** The bits of a collective's place in their list, from 1; 0 for a message between ranks. */
const collectiveBits = 4
const wordsPerRecord = 5

/** The collective that a message is part of, and the number of its call on its communicator. */
interface RecordedCall {
  readonly collective: Collective
  readonly call: number
}
/** The bytes that are recorded for a longer message. */
const mostBytes = 2 ** 32 - 1

/**
 * Records the first operations of one rank, in 20 bytes each: context and kind, source, tag, bytes, call. A bounded
 * trace ends when the operations exceed its limit; later ones are not recorded.
 */
export class TraceRecorder {
  readonly rank: number
  /** The ranks of the communicators that occur, by their contexts. */
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
  post(context: number, source: number, tag: number, of?: RecordedCall): number {
    return this.#record(0, context, source, tag, 0, of) ? this.#receives++ : -1
  }

  arrive(context: number, source: number, tag: number, bytes: number, of?: RecordedCall): void {
    this.#record(1, context, source, tag, Math.min(bytes, mostBytes), of)
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

  *operations(): Generator<MatchingOperation> {
    const words = this.#words.view()
    for (let at = 0; at < words.length; at += wordsPerRecord) {
      const kind = kinds[words[at] & (2 ** kindBits - 1)]
      const [context, source, tag] = [words[at] >>> (kindBits + collectiveBits), words[at + 1], words[at + 2]]
      const code = (words[at] >>> kindBits) & (2 ** collectiveBits - 1)
      const of = code === 0 ? {} : { collective: collectives[code - 1], call: words[at + 4] >>> 0 }
      if (kind === 'cancel') yield { kind, receive: source }
      else if (kind === 'arrive') yield { kind, context, source, tag, bytes: words[at + 3] >>> 0, ...of }
      else yield { kind, context, source, tag, ...of }
    }
  }

  #record(
    kind: number,
    context: number,
    source: number,
    tag: number,
    bytes: number,
    of?: RecordedCall,
  ): boolean {
    if (this.#bounded) return false
    if (this.length === this.#mostOperations || this.#budget.operations === 0) {
      this.#bounded = true
      return false
    }
    this.#budget.operations--
    const words = this.#words
    const code = of === undefined ? 0 : 1 + collectives.indexOf(of.collective)
    words.push((((context << collectiveBits) | code) << kindBits) | kind)
    words.push(source)
    words.push(tag)
    words.push(bytes | 0)
    words.push((of?.call ?? 0) | 0)
    return true
  }
}
