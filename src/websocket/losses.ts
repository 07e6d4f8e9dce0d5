import { RankweaveError } from '../errors.js'

/** The lost processes, and the losses that the sink has not been told yet. */
export class Losses {
  readonly #errors: (RankweaveError | undefined)[] = []
  #unreported: { readonly peer: number; readonly reason: string }[] = []
  #world: RankweaveError | undefined

  /** The number of losses that the sink has not been told. */
  get waiting(): number {
    return this.#unreported.length + (this.#world === undefined ? 0 : 1)
  }

  /** Returns the error of calls that need `peer`, once its loss has been reported. */
  of(peer: number): RankweaveError | undefined {
    return this.#errors[peer]
  }

  add(peer: number, reason: string): void {
    if (this.#errors[peer] === undefined) this.#unreported.push({ peer, reason })
  }

  addWorld(error: RankweaveError): void {
    this.#world = error
  }

  /** Hands over the losses that have not been reported: each once, that of the world first. */
  report(
    world: (error: RankweaveError) => void,
    process: (peer: number, reason: string, error: RankweaveError) => void,
  ): void {
    const lostWorld = this.#world
    this.#world = undefined
    if (lostWorld !== undefined) world(lostWorld)
    const unreported = this.#unreported
    this.#unreported = []
    for (const { peer, reason } of unreported) {
      if (this.#errors[peer] !== undefined) continue
      const error = new RankweaveError('ERR_PEER_LOST', `process ${peer} is lost: ${reason}`, {
        details: { process: peer },
      })
      this.#errors[peer] = error
      process(peer, reason, error)
    }
  }

  /** Drops the waiting losses; no further report follows. */
  clear(): void {
    this.#unreported = []
    this.#world = undefined
  }
}
