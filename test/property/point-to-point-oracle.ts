import { ANY_SOURCE, ANY_TAG } from '../../src/messages/mailboxes/envelope.js'

export interface OracleMessage {
  readonly id: number
  readonly source: number
  readonly tag: number
}

export interface OracleReceive {
  readonly id: number
  readonly source: number
  readonly tag: number
}

/**
 * MPI's matching rules for one receiver, by the book: two lists, each searched from its start (MPI-4.1 §3.5).
 * A message goes to the earliest posted receive that matches; a receive gets the earliest message that
 * matches.
 */
export class MatchingOracle {
  readonly posted: OracleReceive[] = []
  readonly arrived: OracleMessage[] = []
  /** Receive id -> message id. */
  readonly matches = new Map<number, number>()

  send(message: OracleMessage): void {
    const at = this.posted.findIndex((receive) => matching(receive, message))
    if (at < 0) this.arrived.push(message)
    else this.matches.set(this.posted.splice(at, 1)[0].id, message.id)
  }

  receive(receive: OracleReceive): void {
    const at = this.arrived.findIndex((message) => matching(receive, message))
    if (at < 0) this.posted.push(receive)
    else this.matches.set(receive.id, this.arrived.splice(at, 1)[0].id)
  }

  peek(source: number, tag: number): OracleMessage | undefined {
    return this.arrived.find((message) => matching({ id: -1, source, tag }, message))
  }

  withdrawReceive(id: number): boolean {
    return withdraw(this.posted, id)
  }

  withdrawSend(id: number): boolean {
    return withdraw(this.arrived, id)
  }
}

function matching(receive: OracleReceive, message: OracleMessage): boolean {
  const sourceFits = receive.source === ANY_SOURCE || receive.source === message.source
  return sourceFits && (receive.tag === ANY_TAG || receive.tag === message.tag)
}

function withdraw(list: { readonly id: number }[], id: number): boolean {
  const at = list.findIndex((entry) => entry.id === id)
  if (at >= 0) list.splice(at, 1)
  return at >= 0
}
