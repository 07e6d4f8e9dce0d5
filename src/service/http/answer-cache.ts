/**
 * Answers that were computed, the latest used, up to so many bytes; equal requests at the same time are
 * computed once.
 */
export class AnswerCache {
  readonly #most: number
  readonly #answers = new Map<string, string>()
  readonly #computing = new Map<string, Promise<string>>()
  #length = 0

  constructor(mostCharacters: number) {
    this.#most = mostCharacters
  }

  async get(key: string, compute: () => Promise<string>): Promise<string> {
    const known = this.#answers.get(key)
    if (known !== undefined) {
      this.#answers.delete(key)
      this.#answers.set(key, known)
      return known
    }
    const running = this.#computing.get(key)
    if (running !== undefined) return running
    const computing = compute()
    this.#computing.set(key, computing)
    try {
      const answer = await computing
      this.#put(key, answer)
      return answer
    } finally {
      this.#computing.delete(key)
    }
  }

  #put(key: string, answer: string): void {
    if (answer.length > this.#most / 4) return
    this.#answers.set(key, answer)
    this.#length += answer.length
    for (const [oldest, { length }] of this.#answers) {
      if (this.#length <= this.#most) return
      this.#answers.delete(oldest)
      this.#length -= length
    }
  }
}
