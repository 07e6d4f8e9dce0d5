import { GrowingInt32Array } from '../../base/growing-array.js'
import { wrongValue } from '../../errors.js'
import { collectives } from '../../schedule/specification.js'
import type { ProcessFacts } from './design.js'
import { type ElementFields, matchingTraffic, QueueElement } from './element.js'
import type { MatchingOperation } from './operation.js'

type PackedKind = MatchingOperation['kind']

const kinds: readonly PackedKind[] = ['post', 'arrive', 'probe', 'mprobe', 'cancel']
const kindBits = 3
const wordsPerOperation = 6

/** The most ranks of all communicators together, which bounds what designs allocate for each communicator and rank. */
export const mostCommunicatorPlaces = 2 ** 24

/** The operations of one process in 24 bytes each, so that they can be replayed many times. */
export class PackedTrace {
  readonly facts: ProcessFacts
  readonly #words = new GrowingInt32Array()
  readonly #contexts = new Set<number>()
  #places = 0
  readonly cancelled = new Set<number>()
  receives = 0
  messages = 0

  constructor(facts: ProcessFacts) {
    this.facts = facts
  }

  get length(): number {
    return this.#words.length / wordsPerOperation
  }

  /**
   * Appends an operation that has been checked.
   *
   * @throws ERR_ARGUMENT for a cancel of a receive that is not before it, and for too many communicators
   */
  push(operation: MatchingOperation): void {
    const words = this.#words
    if (operation.kind === 'cancel') {
      const { receive } = operation
      if (receive >= this.receives)
        throw wrongValue('ERR_ARGUMENT', `expected receive, one of ${this.receives} posts before`, receive)
      this.cancelled.add(receive)
      for (const word of [kinds.indexOf('cancel'), 0, receive, 0, 0, 0]) words.push(word)
      return
    }
    const { kind, context, source, tag, bytes = 0, collective, call } = operation
    if (!this.#contexts.has(context)) this.#addContext(context)
    if (kind === 'post') this.receives++
    if (kind === 'arrive') this.messages++
    words.push((matchingTraffic(collective) << kindBits) | kinds.indexOf(kind))
    words.push(context)
    words.push(source)
    words.push(tag)
    words.push(Math.min(bytes, 2 ** 32 - 1) | 0)
    words.push(call === undefined ? -1 : call % 2 ** 31)
  }

  first(operations: number): PackedTrace {
    const first = new PackedTrace(this.facts)
    for (const operation of this.operations()) {
      if (first.length === operations) break
      first.push(operation)
    }
    return first
  }

  kind(index: number): PackedKind {
    return kinds[this.#words.get(index * wordsPerOperation) & (2 ** kindBits - 1)]
  }

  cancelOf(index: number): number {
    return this.#words.get(index * wordsPerOperation + 2)
  }

  /** Yields the operations, for a reader that needs them once. */
  *operations(): Generator<MatchingOperation> {
    const words = this.#words
    for (let index = 0; index < this.length; index++) {
      const kind = this.kind(index)
      if (kind === 'cancel') {
        yield { kind, receive: this.cancelOf(index) }
        continue
      }
      const at = index * wordsPerOperation
      const traffic = words.get(at) >>> kindBits
      const collective = traffic === 0 ? {} : { collective: collectives[traffic - 1] }
      const call = words.get(at + 5) < 0 ? {} : { call: words.get(at + 5) }
      const [context, source, tag] = [words.get(at + 1), words.get(at + 2), words.get(at + 3)]
      yield { kind, context, source, tag, bytes: words.get(at + 4) >>> 0, ...collective, ...call }
    }
  }

  /**
   * Returns the element with which the operation at an index is searched, or queued.
   *
   * @param number names it
   */
  element(index: number, number: number): QueueElement {
    const words = this.#words
    const at = index * wordsPerOperation
    const call = words.get(at + 5)
    const fields: ElementFields = {
      context: words.get(at + 1),
      source: words.get(at + 2),
      tag: words.get(at + 3),
      bytes: words.get(at + 4) >>> 0,
      ...(call < 0 ? {} : { call }),
    }
    return new QueueElement(number, fields, words.get(at) >>> kindBits)
  }

  #addContext(context: number): void {
    const { communicatorSizes, processes } = this.facts
    this.#contexts.add(context)
    this.#places += communicatorSizes?.get(context) ?? processes
    if (this.#places > mostCommunicatorPlaces)
      throw wrongValue(
        'ERR_ARGUMENT',
        `expected communicators of at most ${mostCommunicatorPlaces} ranks together`,
        this.#places,
      )
  }
}
