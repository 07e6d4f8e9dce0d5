import { expect, it } from 'vitest'
import { type Reader, TotalUnread } from '../../../../src/service/worlds/socket-turns.js'

/** A client that reads nothing. */
class Silent implements Reader {
  unreadBytes = 0
  reason = ''
  cutOff(reason: string): void {
    this.reason = reason
  }
}

it('clients that read least are cut off when all together have not read too much', () => {
  const unread = new TotalUnread(800)
  const clients = [10, 300, 200, 290].map((bytes) => {
    const client = new Silent()
    client.unreadBytes = bytes
    unread.sent(client)
    return client
  })
  expect(clients.map(({ reason }) => reason !== '')).toEqual([false, false, false, false])
  clients[0]!.unreadBytes += 1
  unread.sent(clients[0]!)
  expect(clients.map(({ reason }) => reason)).toEqual([
    '',
    'it does not read, and all clients together have not read 800 bytes',
    '',
    '',
  ])
})

it('what clients have read, and those that have left, do not count', () => {
  const unread = new TotalUnread(800)
  const [read, left, slow] = [new Silent(), new Silent(), new Silent()]
  for (const client of [read, left]) {
    client.unreadBytes = 400
    unread.sent(client)
  }
  read.unreadBytes = 0
  unread.forget(left)
  slow.unreadBytes = 800
  unread.sent(slow)
  slow.unreadBytes = 801
  unread.sent(slow)
  expect([read, left, slow].map(({ reason }) => reason !== '')).toEqual([false, false, true])
})
