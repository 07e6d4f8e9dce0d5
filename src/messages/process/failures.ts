import { RankweaveError } from '../../errors.js'
import type { Trouble } from './frame-port.js'
import { ranksText, type WorldLayout } from './world-layout.js'

/** The reasons why operations of one process cannot complete: processes that are lost, and the end of the world. */
export class Failures {
  readonly #layout: WorldLayout
  readonly #lost = new Map<number, string>()
  readonly #listeners: Trouble[] = []
  #ended: RankweaveError | undefined

  constructor(layout: WorldLayout) {
    this.#layout = layout
  }

  /** The reason the world ended, once it has. */
  get ended(): RankweaveError | undefined {
    return this.#ended
  }

  /** Adds a listener. Listeners are notified in the order in which they were added. */
  listen(listener: Trouble): void {
    this.#listeners.push(listener)
  }

  /** Records a lost process and notifies the listeners. Returns false if it was lost already. */
  lose(peer: number, reason: string): boolean {
    if (this.#lost.has(peer)) return false
    this.#lost.set(peer, reason)
    const error = this.lostPeer(peer)!
    for (const listener of this.#listeners) listener.peerLost(peer, error)
    return true
  }

  get lostPeers(): Iterable<number> {
    return this.#lost.keys()
  }

  /** Returns the error of an operation that needs process `peer`, if that process is lost. */
  lostPeer(peer: number): RankweaveError | undefined {
    const reason = this.#lost.get(peer)
    return reason === undefined
      ? undefined
      : new RankweaveError('ERR_PEER_LOST', `${ranksText(this.#layout, peer)} is lost: ${reason}`, {
          details: { process: peer },
        })
  }

  end(error: RankweaveError): void {
    if (this.#ended !== undefined) return
    this.#ended = error
    for (const listener of this.#listeners) listener.ended(error)
  }
}
