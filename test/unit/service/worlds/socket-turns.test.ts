import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { mostWaiting, SocketTurns } from '../../../../src/service/worlds/socket-turns.js'

/** Sockets whose messages are noted when they are handled. */
function harness() {
  const handled: string[] = []
  const turns = new SocketTurns()
  const socket = () => {
    const calls: string[] = []
    const pausable = { pause: () => void calls.push('pause'), resume: () => void calls.push('resume') }
    const receiver = {
      receive: (data: unknown) => void handled.push(data as string),
      exceeded: () => {
        calls.push('exceeded')
        own.over()
      },
    }
    const own = turns.of(pausable, receiver)
    return { calls, own }
  }
  return { handled, socket }
}

it.each([
  [0, 16],
  [3_000, 10],
  [65_000, 1],
])('of messages of %i characters, %i are handled in a turn of the event loop', async (length, most) => {
  const { handled, socket } = harness()
  const sockets = Array.from({ length: 8 }, () => socket().own)
  for (const each of sockets) for (let n = 0; n < 20; n++) each.take('x'.repeat(length))
  const counts = [handled.length]
  while (handled.length < 160) {
    const before = handled.length
    await turn()
    counts.push(handled.length - before)
  }
  counts.pop()
  expect(counts).toEqual(new Array<number>(counts.length).fill(most))
})

it('a socket is paused while its messages wait, and ends after them', async () => {
  const { handled, socket } = harness()
  const { calls, own } = socket()
  for (let n = 0; n < 16; n++) own.take('')
  expect([calls, handled.length]).toEqual([[], 16])
  for (let n = 0; n < 20; n++) own.take('')
  expect([calls, handled.length]).toEqual([['pause'], 16])
  own.end(() => handled.push('end'))
  while (handled.at(-1) !== 'end') await turn()
  expect([calls, handled.length]).toEqual([['pause', 'resume'], 37])
})

it('what waits on a socket that is over is dropped, its end excepted', async () => {
  const { handled, socket } = harness()
  const { calls, own } = socket()
  for (let n = 0; n < 20; n++) own.take('')
  own.end(() => handled.push('end'))
  own.over()
  own.take('late')
  await turn()
  expect([calls, handled.length, handled.at(-1)]).toEqual([['pause', 'resume'], 17, 'end'])
  own.end(() => handled.push('again'))
  expect(handled.at(-1)).toBe('again')
})

it('a socket on which more messages wait than may is refused', () => {
  const { handled, socket } = harness()
  const { calls, own } = socket()
  for (let n = 0; n < 16 + mostWaiting; n++) own.take('')
  expect(calls).toEqual(['pause'])
  own.take('')
  own.take('')
  expect([calls, handled.length]).toEqual([['pause', 'exceeded', 'resume'], 16])
})
