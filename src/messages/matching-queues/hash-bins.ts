import {
  Chain,
  earlierOf,
  type MatchingCounters,
  type MatchingDesign,
  type MatchingElement,
  type MatchingKey,
  overheads,
  type Traversals,
  unchain,
} from './design.js'

/**
 * A fixed number of bins by a hash of context, source and tag. Receives with a wildcard are in a separate list, which
 * every message searches too; a receive with a wildcard searches all bins. Sequence numbers tell which element was
 * inserted first.
 *
 * @see Flajslik, Dinan and Underwood 2016 (Mitigating MPI message matching misery)
 */
export class HashBinsDesign<E extends MatchingElement> implements MatchingDesign<E> {
  readonly #bins: readonly Chain<E>[]
  readonly #wild = new Chain<E>()
  readonly #passed: Traversals = { traversals: 0 }
  #searches = 0
  #inserted = 0
  #size = 0

  constructor(bins: number) {
    this.#bins = Array.from({ length: bins }, () => new Chain<E>())
  }

  get size(): number {
    return this.#size
  }

  search(key: MatchingKey): E | undefined {
    const found = this.peek(key)
    if (found !== undefined) this.remove(found)
    return found
  }

  peek(key: MatchingKey): E | undefined {
    this.#searches++
    if (isWild(key)) return this.#findInAll(key)
    return earlierOf(this.#binOf(key).find(key, this.#passed), this.#wild.find(key, this.#passed))
  }

  insert(element: E): void {
    element.order = this.#inserted++
    const chain = isWild(element) ? this.#wild : this.#binOf(element)
    chain.append(element)
    this.#size++
  }

  remove(element: E): void {
    unchain(element)
    this.#size--
  }

  counters(): MatchingCounters {
    return {
      searches: this.#searches,
      traversals: this.#passed.traversals,
      queues: this.#bins.length,
      collectiveQueues: 0,
      levels: 0,
      partners: 0,
      overheadBytes: (this.#bins.length + 1) * overheads.listBytes,
    }
  }

  #findInAll(key: MatchingKey): E | undefined {
    let first: E | undefined
    for (const bin of this.#bins) first = earlierOf(first, bin.find(key, this.#passed))
    return first
  }

  #binOf({ context, traffic, source, tag }: MatchingKey): Chain<E> {
    return this.#bins[hashOf(context, traffic, source, tag) % this.#bins.length]
  }
}

function isWild({ sourceMask, tagMask }: MatchingKey): boolean {
  return (sourceMask & tagMask) === 0
}

/** Mixes four integers of 32 bits to one without a sign: each is multiplied and the upper bits are folded in. */
function hashOf(context: number, traffic: number, source: number, tag: number): number {
  let hash = Math.imul(context ^ 0x9e3779b9, 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 15) ^ traffic, 0xc2b2ae35)
  hash = Math.imul(hash ^ (hash >>> 13) ^ source, 0x27d4eb2f)
  hash = Math.imul(hash ^ (hash >>> 16) ^ tag, 0x165667b1)
  return (hash ^ (hash >>> 15)) >>> 0
}
