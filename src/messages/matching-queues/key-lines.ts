const [sourceWord, tagWord, nextWord, firstWord, lastWord] = [0, 1, 2, 3, 4]
const nodeWords = 5
const none = -1

/**
 * Lines of places by two integers, first in, first out, in a hash table of integers: no object is made for a place. A
 * place whose entry is gone leaves its line when a search passes it.
 */
export class KeyLines {
  // These are arrays of small integers: short lines took longer in typed arrays (docs/decisions/0088).
  /** The first node of each bucket; as many as there may be nodes. */
  #buckets: number[]
  /** The nodes: source and tag of each key, the next key in its bucket, and the first and last place of its line. */
  readonly #nodes: number[] = []
  /** The next place in its line, by place. */
  readonly #behind: number[] = []

  /** @param keys that are expected, at least 1 */
  constructor(keys: number) {
    this.#buckets = new Array<number>(2 ** (32 - Math.clz32(keys))).fill(none)
  }

  /** @param place after all that have been pushed before */
  push(source: number, tag: number, place: number): void {
    const behind = this.#behind
    // Other lines have the places before.
    while (behind.length <= place) behind.push(none)
    const found = this.#nodeOf(source, tag)
    const node = found === none ? this.#newNode(source, tag) : found
    const nodes = this.#nodes
    if (nodes[node + firstWord] === none) nodes[node + firstWord] = place
    else behind[nodes[node + lastWord]] = place
    nodes[node + lastWord] = place
  }

  /**
   * Returns the first place of a line whose entry is there; -1 without one.
   *
   * @param entries by place, undefined if they are gone
   */
  first(source: number, tag: number, entries: readonly unknown[]): number {
    const node = this.#nodeOf(source, tag)
    if (node === none) return none
    let place = this.#nodes[node + firstWord]
    if (place === none || entries[place] !== undefined) return place
    do place = this.#behind[place]
    while (place !== none && entries[place] === undefined)
    this.#nodes[node + firstWord] = place
    return place
  }

  #nodeOf(source: number, tag: number): number {
    const nodes = this.#nodes
    let node = this.#buckets[hashOf(source, tag) & (this.#buckets.length - 1)]
    while (node !== none && (nodes[node + tagWord] !== tag || nodes[node + sourceWord] !== source))
      node = nodes[node + nextWord]
    return node
  }

  #newNode(source: number, tag: number): number {
    const nodes = this.#nodes
    if (nodes.length === nodeWords * this.#buckets.length) this.#grow()
    const node = nodes.length
    nodes.push(source, tag, none, none, none)
    this.#chain(node)
    return node
  }

  /** Puts a node before those of its bucket. */
  #chain(node: number): void {
    const nodes = this.#nodes
    const bucket = hashOf(nodes[node + sourceWord], nodes[node + tagWord]) & (this.#buckets.length - 1)
    nodes[node + nextWord] = this.#buckets[bucket]
    this.#buckets[bucket] = node
  }

  #grow(): void {
    this.#buckets = new Array<number>(2 * this.#buckets.length).fill(none)
    for (let node = 0; node < this.#nodes.length; node += nodeWords) this.#chain(node)
  }
}

/** Hashes a key. The upper bits are folded into the lower ones, which choose the bucket. */
function hashOf(source: number, tag: number): number {
  const hash = Math.imul(source, 0x9e3779b1) ^ Math.imul(tag, 0x85ebca6b)
  return hash ^ (hash >>> 15)
}
