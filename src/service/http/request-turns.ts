import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { RankweaveError } from '../../errors.js'
import { errorAnswer } from './error-answer.js'

type Handle = (request: IncomingMessage, answer: ServerResponse) => void

/** A request, and the response that takes its answer. */
type Asked = readonly [IncomingMessage, ServerResponse]

/** A connection that has requests in flight. */
interface Asking {
  readonly waiting: Asked[]
  /** The number of characters of their heads. */
  headChars: number
  /** Whether one of them is handled, or its answer is not read completely. */
  isBusy: boolean
  /** Whether it has sent more requests than it may. */
  isRefused: boolean
}

/** The characters of the heads of requests that wait on a connection: 512 for each of 64. */
const mostHeadChars = 2 ** 15

/** The requests that begin in one turn of the event loop: a millisecond or two. */
const mostPerTurn = 16

/**
 * Lets connections take turns. Of each, one request is handled at a time: the next one begins when the client has read
 * the answer ahead of it. So a connection holds the bytes of one answer, however many requests it pipelines. A request
 * waits for at most one of every other connection. A connection that has more than so many requests in flight, or
 * longer heads that wait, is refused: the next answer is ERR_BUSY, and the last one. Memory: `mostHeadChars` of heads
 * and one more head for each connection.
 */
export class RequestTurns {
  readonly #inFlight: number
  readonly #handle: Handle
  readonly #asking = new WeakMap<Socket, Asking>()
  /** The connections with a request that can begin; the one at the front is next. */
  readonly #ready: Asking[] = []
  #begun = 0
  #isNextTurnSet = false

  constructor(inFlight: number, handle: Handle) {
    this.#inFlight = inFlight
    this.#handle = handle
  }

  /** Takes a request that has arrived; those of a connection in their order. */
  take(request: IncomingMessage, answer: ServerResponse): void {
    const { socket } = request
    const asking = this.#asking.get(socket) ?? this.#watched(socket)
    if (asking.isRefused) return
    asking.waiting.push([request, answer])
    asking.headChars += headCharsOf(request)
    const isLong = asking.headChars > mostHeadChars && asking.waiting.length > 1
    if (isLong || asking.waiting.length + (asking.isBusy ? 1 : 0) > this.#inFlight) {
      asking.isRefused = true
      asking.waiting.length = 1
      stopReading(socket)
    }
    if (asking.isBusy || asking.waiting.length > 1) return
    this.#ready.push(asking)
    this.#begin()
  }

  #watched(socket: Socket): Asking {
    const asking: Asking = { waiting: [], headChars: 0, isBusy: false, isRefused: false }
    this.#asking.set(socket, asking)
    socket.once('close', () => {
      asking.waiting.length = 0
      asking.isRefused = true
    })
    return asking
  }

  #begin(): void {
    for (; this.#begun < mostPerTurn && this.#ready.length > 0; this.#begun++)
      this.#next(this.#ready.shift()!)
    if (this.#isNextTurnSet || this.#begun === 0) return
    this.#isNextTurnSet = true
    setImmediate(() => {
      this.#isNextTurnSet = false
      this.#begun = 0
      this.#begin()
    })
  }

  #next(asking: Asking): void {
    const asked = asking.waiting.shift()
    if (asked === undefined) return
    const [request, answer] = asked
    asking.headChars -= headCharsOf(request)
    asking.isBusy = true
    answer.once('close', () => {
      asking.isBusy = false
      // The last answer of a connection has ended it.
      if (!request.socket.writable) asking.waiting.length = 0
      if (asking.waiting.length === 0) return
      this.#ready.push(asking)
      this.#begin()
    })
    answer.once('prefinish', () => {
      const isLast = answer.getHeader('connection') === 'close'
      if (isLast && asking.waiting.length > 0) stopReading(request.socket)
    })
    if (asking.isRefused) refuse(answer, this.#inFlight)
    else this.#handle(request, answer)
  }
}

function headCharsOf({ url = '', rawHeaders = [] }: IncomingMessage): number {
  return rawHeaders.reduce((chars, text) => chars + text.length, url.length)
}

/** Stops reading for good: HTTP would resume as soon as it has answered, and parse what it reads. */
function stopReading(socket: Socket): void {
  socket.pause()
  socket.resume = () => socket
}

function refuse(answer: ServerResponse, inFlight: number): void {
  const message = `expected at most ${inFlight} requests in flight on a connection (connectionRequests), with at most ${mostHeadChars} characters in the heads of those that wait`
  const { status, answer: body } = errorAnswer(new RankweaveError('ERR_BUSY', message))
  answer
    .writeHead(status, { 'content-type': 'application/json', 'retry-after': '1', connection: 'close' })
    .end(JSON.stringify(body))
}
