import { expect, it } from 'vitest'
import type { Authority } from '../../../src/fabric/fabric.js'
import { hostSession } from '../../../src/world/world.js'
import { MemoryWorld } from '../../support/memory-membership.js'

/** How each of three processes ends of which one contributes this to the end of the world. */
async function endsWith(contribution: Uint8Array): Promise<readonly string[]> {
  const world = await MemoryWorld.open(3)
  const authority = world.members[1].authority as { decide: Authority['decide'] }
  const { decide } = authority
  authority.decide = (key, members, own) => decide(key, members, key === 'end' ? contribution : own)
  const ended = world.sessions.map((session) =>
    hostSession(session, async (comm) => comm.barrier(), { ranks: 3 }).then(
      () => 'ended well',
      ({ code, message }) => `${code} ${message}`,
    ),
  )
  return Promise.all(ended)
}

it.each([
  ['a process that there is not', [9, 0, 0, 0], /^ERR_PROTOCOL .* from process 1$/],
  ['a negative one', [0, 0, 0, 128], /^ERR_PROTOCOL .* from process 1$/],
  ['too few bytes', [1], /^ERR_PROTOCOL .* from process 1$/],
  ['nothing', [], /^ERR_PROTOCOL .* from process 1$/],
  ['another process, which has not failed', [2, 0, 0, 0], /^ERR_PROTOCOL .* no failure of process 2/],
])(
  'a process that contributes %s to the end of the world: all fail with ERR_PROTOCOL',
  async (_, bytes, expected) => {
    for (const end of await endsWith(Uint8Array.from(bytes))) expect(end).toMatch(expected)
  },
)
