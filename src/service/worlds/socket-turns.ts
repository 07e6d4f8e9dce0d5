import type { Socket } from '../../websocket/socket/socket.js'

/** The characters that one turn of the event loop handles: 16 short messages or a long one. */
const turnChars = 2 ** 16
/** The characters that each message counts in addition to its own. */
const messageChars = 2 ** 12
/** The most messages that may wait on a socket: one read of the network has fewer that are requests. */
export const mostWaiting = 2 ** 12

interface Receiver {
  /** Handles a message. */
  receive(data: unknown): void
  /** Refuses the socket, and ends: more messages wait than may. */
  exceeded(): void
}

/**
 * Lets sockets take turns: one message of each is handled, then the next one of each. A turn of the event loop handles
 * a few; the rest wait for later turns. So a message waits for at most one of every other socket, and new connections
 * and requests wait for a few.
 */
export class SocketTurns {
  /** The queues with a message that waits; the one at the front is next. */
  readonly #ready: SocketQueue[] = []
  #spent = 0
  #isNextTurnSet = false

  /** Returns the queue of a new socket. */
  of(socket: Pausable, receiver: Receiver): SocketQueue {
    const queue = new SocketQueue(socket, receiver, () => {
      this.#ready.push(queue)
      this.#handle()
    })
    return queue
  }

  #handle(): void {
    while (this.#spent < turnChars && this.#ready.length > 0) {
      const queue = this.#ready.shift()!
      const first = queue.shift()
      if (queue.waits) this.#ready.push(queue)
      if (first === undefined) continue
      this.#spent += messageChars + first.length
      queue.handle(first)
    }
    if (this.#isNextTurnSet || this.#spent === 0) return
    this.#isNextTurnSet = true
    setImmediate(() => {
      this.#isNextTurnSet = false
      this.#spent = 0
      this.#handle()
    })
  }
}

type Pausable = Pick<Socket, 'pause' | 'resume'>
type Message = string | Uint8Array
type End = () => void

/**
 * The messages that wait on one socket, in the order in which they arrived. Meanwhile the socket is paused. Memory:
 * what the socket reads before it pauses, 64 KiB and the longest message, in at most `mostWaiting` messages.
 */
class SocketQueue {
  readonly #socket: Pausable
  readonly #receiver: Receiver
  readonly #ready: () => void
  readonly #waiting: (Message | End)[] = []
  #isPaused = false
  #isOver = false

  /** @param ready called when the first one waits */
  constructor(socket: Pausable, receiver: Receiver, ready: () => void) {
    this.#socket = socket
    this.#receiver = receiver
    this.#ready = ready
  }

  get waits(): boolean {
    return this.#waiting.length > 0
  }

  /** Takes a message; it is handled at once if nothing waits and the turn is not over. */
  take(message: Message): void {
    if (this.#isOver) return
    this.#push(message)
    if (this.#waiting.length > mostWaiting) this.#receiver.exceeded()
    else if (this.waits && !this.#isPaused) {
      this.#isPaused = true
      this.#socket.pause?.()
    }
  }

  /** Notes that the socket has closed. @param act called after all messages */
  end(act: End): void {
    if (this.#isOver) act()
    else this.#push(act)
  }

  /** Drops all messages from here on. */
  over(): void {
    this.#isOver = true
    const ends = this.#waiting.splice(0).filter((waiting) => typeof waiting === 'function')
    for (const act of ends) act()
    this.#resume()
  }

  shift(): Message | End | undefined {
    return this.#waiting.shift()
  }

  handle(waiting: Message | End): void {
    if (typeof waiting === 'function') waiting()
    else this.#receiver.receive(waiting)
    if (!this.waits) this.#resume()
  }

  #push(waiting: Message | End): void {
    this.#waiting.push(waiting)
    if (this.#waiting.length === 1) this.#ready()
  }

  #resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket.resume?.()
  }
}

export interface Reader {
  /** The number of bytes that it has not read. */
  readonly unreadBytes: number
  /** Ends its socket at once. */
  cutOff(reason: string): void
}

/**
 * The unread bytes of the clients of all sockets together. If they are too many, the clients that have read least are
 * cut off, until an eighth of the bound is free. Memory: an entry for each client that has been sent something.
 */
export class TotalUnread {
  readonly #mostBytes: number
  /** The unread bytes when the client was last sent something. */
  readonly #bytes = new Map<Reader, number>()
  #total = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** Notes that a client has been sent something. */
  sent(reader: Reader): void {
    this.#note(reader, reader.unreadBytes)
    if (this.#total <= this.#mostBytes) return
    // Some clients have read meanwhile.
    for (const each of this.#bytes.keys()) this.#note(each, each.unreadBytes)
    if (this.#total <= this.#mostBytes) return
    const behind = [...this.#bytes].sort(([, a], [, b]) => b - a)
    for (const [each] of behind) {
      if (this.#total <= (this.#mostBytes / 8) * 7) return
      this.forget(each)
      each.cutOff(`it does not read, and all clients together have not read ${this.#mostBytes} bytes`)
    }
  }

  /** Forgets a client whose socket has closed. */
  forget(reader: Reader): void {
    this.#note(reader, 0)
    this.#bytes.delete(reader)
  }

  #note(reader: Reader, bytes: number): void {
    this.#total += bytes - (this.#bytes.get(reader) ?? 0)
    this.#bytes.set(reader, bytes)
  }
}
