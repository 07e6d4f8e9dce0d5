interface Computing {
  readonly answer: Promise<string>
  readonly end: AbortController
  /** The number of clients that wait for it. */
  waiting: number
}

/**
 * Keeps computed answers, the latest used, up to so many bytes; equal requests at the same time are computed once. A
 * computation that no client waits for is aborted.
 */
export class AnswerCache {
  readonly #most: number
  readonly #answers = new Map<string, string>()
  readonly #computing = new Map<string, Computing>()
  #length = 0

  constructor(mostCharacters: number) {
    this.#most = mostCharacters
  }

  /** @param leaves aborted when the asking client no longer waits */
  async get(
    key: string,
    compute: (signal: AbortSignal) => Promise<string>,
    leaves: AbortSignal,
  ): Promise<string> {
    const known = this.#answers.get(key)
    if (known !== undefined) {
      this.#answers.delete(key)
      this.#answers.set(key, known)
      return known
    }
    const computing = this.#computing.get(key) ?? this.#compute(key, compute)
    computing.waiting++
    const leave = () => {
      if (--computing.waiting > 0) return
      // Later requests do not get a computation that is aborted.
      this.#forget(key, computing)
      computing.end.abort()
    }
    if (leaves.aborted) leave()
    else leaves.addEventListener('abort', leave, { once: true })
    return computing.answer
  }

  #compute(key: string, compute: (signal: AbortSignal) => Promise<string>): Computing {
    const end = new AbortController()
    const computing: Computing = { answer: compute(end.signal), end, waiting: 0 }
    this.#computing.set(key, computing)
    void computing.answer
      .then((answer) => this.#put(key, answer))
      .catch(() => {})
      .then(() => this.#forget(key, computing))
    return computing
  }

  #forget(key: string, computing: Computing): void {
    if (this.#computing.get(key) === computing) this.#computing.delete(key)
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
