import { expect, it } from 'vitest'
import { decodeRequest } from '../../../../src/service/worlds/decode-request.js'

it.each([
  [{ kind: 'join', members: 0 }, 'join.members: expected at least 1'],
  [{ kind: 'join', world: 'x' }, 'join.world: expected the id of a world, w- and 16 hexadecimal digits'],
  [{ kind: 'join', name: 'a b' }, /^join.name: expected a name of 1 to 64 characters of/],
  [{ kind: 'join', worlds: 1 }, 'join: expected fields among id, kind, world, name, members, address'],
  [{ kind: 'split', comm: 'x' }, /^split.comm: expected the id of a communicator, such as world or 0.1$/],
])('%j is refused in the words of other errors, without its values', (message, expected) => {
  expect(decodeRequest(JSON.stringify({ id: 1, ...message }), 2 ** 16)).toMatchObject({
    id: 1,
    error: { code: 'ERR_PROTOCOL', message: expect.stringMatching(expected) as string },
  })
})
