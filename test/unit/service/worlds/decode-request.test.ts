import { expect, it } from 'vitest'
import { decodeRequest } from '../../../../src/service/worlds/decode-request.js'

it.each([
  [{ kind: 'join', members: 0 }, /^join.members: expected at least 1, got 0$/],
  [
    { kind: 'join', world: 'x' },
    /^join.world: expected the id of a world, w- and 16 hexadecimal .*, got 'x'$/,
  ],
  [{ kind: 'join', name: 'a b' }, /^join.name: expected a name of 1 to 64 characters of .*, got 'a b'$/],
  [
    { kind: 'join', worlds: 1 },
    "join: expected fields among id, kind, world, name, members, address, got 'worlds'",
  ],
  [{ kind: 'split', comm: 'world' }, "field 'split.color' is missing: expected an integer or null"],
  [
    { kind: 'split', comm: 'world', color: '1' },
    /^split.color: expected an integer or null, got the text '1'$/,
  ],
  [{ kind: 'sprit' }, /^expected a kind among hello, .*, got 'sprit'$/],
  [{}, /^expected a kind among hello, .*, got none$/],
  [{ kind: 'hello', protocol: 1, token: 7 }, /^hello.token: expected a text$/],
])('%j is refused in the words of other errors, without a token', (message, expected) => {
  expect(decodeRequest(JSON.stringify({ id: 1, ...message }), 2 ** 16)).toMatchObject({
    id: 1,
    error: { code: 'ERR_PROTOCOL', message: expect.stringMatching(expected) as string },
  })
})
