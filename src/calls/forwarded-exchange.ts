import type { Exchange, Lend, Room, Take } from './exchange.js'

/** Forwards every call to another exchange. A subclass observes what it overrides. */
export class ForwardedExchange implements Exchange {
  readonly me: number
  readonly count: number
  readonly seq: number
  readonly eagerLimitBytes: number
  readonly #exchange: Exchange

  constructor(exchange: Exchange) {
    this.me = exchange.me
    this.count = exchange.count
    this.seq = exchange.seq
    this.eagerLimitBytes = exchange.eagerLimitBytes
    this.#exchange = exchange
  }

  send(peer: number, step: number, payload: Uint8Array, sent?: () => void): void {
    this.#exchange.send(peer, step, payload, sent)
  }

  receive(peer: number, step: number): Promise<Uint8Array> {
    return this.#exchange.receive(peer, step)
  }

  take(peer: number, step: number, take: Take): void {
    this.#exchange.take(peer, step, take)
  }

  takeInto(peer: number, step: number, room: Room, landed: () => void, lend?: Lend): void {
    this.#exchange.takeInto(peer, step, room, landed, lend)
  }

  watch(look: () => boolean, awaited: () => readonly number[], done: () => void): void {
    this.#exchange.watch(look, awaited, done)
  }

  get hasFailed(): boolean {
    return this.#exchange.hasFailed
  }

  get isSent(): boolean {
    return this.#exchange.isSent
  }

  whenSent(done: () => void): void {
    this.#exchange.whenSent(done)
  }

  finish(results: readonly unknown[]): void {
    this.#exchange.finish(results)
  }
}
