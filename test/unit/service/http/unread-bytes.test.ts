import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { UnreadBytes } from '../../../../src/service/http/app.js'
import { thrown } from '../../topology/thrown.js'

const answer = () => new EventEmitter() as unknown as ServerResponse

it('answers that clients of a tenant have not read are bounded, and count until they are', () => {
  const unread = new UnreadBytes(2 ** 20)
  const first = answer()
  unread.add('a', first, 2 ** 20 - 2 ** 17)
  unread.add('b', answer(), 2 ** 20)
  unread.add('a', answer(), 2 ** 17)
  expect(thrown(() => unread.add('a', answer(), 2 ** 17))).toMatchObject({
    code: 'ERR_BUSY',
    message: 'expected at most 1048576 bytes of answers that were not read (unreadBytes)',
  })
  first.emit('close')
  unread.add('a', answer(), 2 ** 17)
})

it('short answers do not count, and a tenant has one answer of any length', () => {
  const unread = new UnreadBytes(2 ** 17)
  unread.add('a', answer(), 2 ** 30)
  for (let index = 0; index < 100; index++) unread.add('a', answer(), 2 ** 16)
  expect(thrown(() => unread.add('a', answer(), 2 ** 16 + 1))).toMatchObject({ code: 'ERR_BUSY' })
})

it('an answer whose client left before it was made does not count', () => {
  const unread = new UnreadBytes(2 ** 17)
  unread.add('a', Object.assign(answer(), { destroyed: true }), 2 ** 17)
  unread.add('a', answer(), 2 ** 17)
})
