import { EventEmitter, once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { RequestTurns } from '../../../../src/service/http/request-turns.js'

/** The order in which requests are handled; each answer is read in the next turn of the event loop. */
function harness(inFlight: number) {
  const handled: string[] = []
  const done = new EventEmitter()
  const turns = new RequestTurns(inFlight, (request, answer) => {
    handled.push(request.url!)
    setImmediate(() => answer.emit('close'))
    done.emit('handled')
  })
  const connection = () => Object.assign(new EventEmitter(), { writable: true, pause: () => {} })
  const take = (socket: EventEmitter, url: string) => {
    const answer = new EventEmitter()
    turns.take({ socket, url } as unknown as IncomingMessage, answer as unknown as ServerResponse)
  }
  const until = async (count: number) => {
    while (handled.length < count) await once(done, 'handled')
  }
  return { handled, connection, take, until }
}

it('a request of another connection is handled after one more of a connection that has many', async () => {
  const { handled, connection, take, until } = harness(64)
  const [many, one] = [connection(), connection()]
  for (let index = 0; index < 60; index++) take(many, `many ${index}`)
  take(one, 'one')
  await until(61)
  expect(handled.indexOf('one')).toBeLessThanOrEqual(2)
  expect(handled.filter((url) => url !== 'one')).toEqual(Array.from({ length: 60 }, (_, i) => `many ${i}`))
})

it('what waits on a connection that closes is not handled', async () => {
  const { handled, connection, take, until } = harness(64)
  const [gone, there] = [connection(), connection()]
  for (let index = 0; index < 10; index++) take(gone, 'gone')
  gone.writable = false
  gone.emit('close')
  for (let index = 0; index < 10; index++) take(there, 'there')
  await until(11)
  expect(handled).toEqual(['gone', ...new Array<string>(10).fill('there')])
})

it('a request waits until the answer ahead of it has been read', () => {
  const handled: ServerResponse[] = []
  const turns = new RequestTurns(4, (_request, answer) => void handled.push(answer))
  const socket = Object.assign(new EventEmitter(), { writable: true, pause: () => {} })
  const answers = [new EventEmitter(), new EventEmitter()] as unknown as ServerResponse[]
  for (const answer of answers) turns.take({ socket } as unknown as IncomingMessage, answer)
  expect(handled).toEqual([answers[0]])
})

it.each([
  [500, 41],
  [15_000, 3],
])(
  'of 40 requests with heads of %i characters that wait on a connection, %i arrive before it is refused',
  (chars, arrive) => {
    const handled: IncomingMessage[] = []
    const turns = new RequestTurns(64, (request) => void handled.push(request))
    let isPaused = false
    const socket = Object.assign(new EventEmitter(), { writable: true, pause: () => (isPaused = true) })
    const request = { socket, url: '/', rawHeaders: ['x-long', 'y'.repeat(chars - 7)] }
    let arrived = 0
    for (; arrived <= 40 && !isPaused; arrived++)
      turns.take(request as unknown as IncomingMessage, new EventEmitter() as unknown as ServerResponse)
    expect([arrived - (isPaused ? 1 : 0), handled.length]).toEqual([arrive, 1])
  },
)
