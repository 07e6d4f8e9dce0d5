import { RankweaveError } from '../errors.js'
import { type Authority, type Decision, maxContributionBytes, maxKeyLength } from './fabric.js'

interface Waiting {
  resolve(decision: Decision): void
  reject(error: RankweaveError): void
}

/** The side of one process of an authority elsewhere: its contributions without a decision. */
export class RemoteAuthority implements Authority {
  readonly isHere = false
  readonly #send: (key: string, members: readonly number[], contribution: Uint8Array) => void
  readonly #waiting = new Map<string, Waiting>()
  #failed: RankweaveError | undefined

  /** @param send takes a contribution to the authority; reads it before it returns */
  constructor(send: (key: string, members: readonly number[], contribution: Uint8Array) => void) {
    this.#send = send
  }

  decide(key: string, members: readonly number[], contribution: Uint8Array): Promise<Decision> {
    if (this.#failed !== undefined) return Promise.reject(this.#failed)
    if (this.#waiting.has(key) || key.length > maxKeyLength || contribution.length > maxContributionBytes) {
      const message =
        `decide: expected a new key of at most ${maxKeyLength} characters and at most ${maxContributionBytes} bytes, ` +
        `got '${key.slice(0, maxKeyLength)}' and ${contribution.length} bytes`
      return Promise.reject(new RankweaveError('ERR_FABRIC', message))
    }
    return new Promise((resolve, reject) => {
      this.#waiting.set(key, { resolve, reject })
      this.#send(key, members, contribution)
    })
  }

  /** Takes a decision of the authority; a decision that no process here waits for has no effect. */
  decided(key: string, decision: Decision): void {
    const waiting = this.#waiting.get(key)
    this.#waiting.delete(key)
    waiting?.resolve(decision)
  }

  /**
   * Fails all waits because no decision will come: the session is closed (ERR_FABRIC), this process or the authority is
   * lost.
   */
  fail(error: RankweaveError): void {
    this.#failed ??= error
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of waiting) reject(error)
  }
}
