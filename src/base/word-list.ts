/** 32-bit words that are appended one by one. */
export class WordList {
  length = 0
  #words = new Int32Array(16)

  push(word: number): void {
    if (this.length === this.#words.length) this.#grow(1)
    this.#words[this.length++] = word
  }

  append(words: Int32Array): void {
    if (this.length + words.length > this.#words.length) this.#grow(words.length)
    this.#words.set(words, this.length)
    this.length += words.length
  }

  /** The words so far: a view. */
  get words(): Int32Array {
    return this.#words.subarray(0, this.length)
  }

  #grow(more: number): void {
    const grown = new Int32Array(Math.max(2 * this.#words.length, this.length + more))
    grown.set(this.words)
    this.#words = grown
  }
}
