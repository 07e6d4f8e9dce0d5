import { type RecordBudget, type RecordedCall, TraceRecorder } from '../matching-queues/trace-recorder.js'
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
