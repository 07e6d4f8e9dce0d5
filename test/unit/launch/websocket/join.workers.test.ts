import { expect, it } from 'vitest'
import { join } from '../../../../src/launch/websocket/join.js'
import { openRendezvous } from '../../../../src/launch/websocket/rendezvous.js'

it('a process that cannot read the settings of its world leaves it', async () => {
  const rendezvous = await openRendezvous({ processes: 1, settings: '{"ranks":0}' })
  const { url, world } = rendezvous
  await expect(join(() => 1, { url, token: world.token, program: 'digest' })).rejects.toMatchObject({
    code: 'ERR_PROTOCOL',
  })
  expect(await world.ended).toEqual({
    ...{ lost: [], closed: null },
    failed: expect.stringMatching(/^ERR_PROTOCOL: expected the settings of a world/),
  })
  await rendezvous.close('done')
})
