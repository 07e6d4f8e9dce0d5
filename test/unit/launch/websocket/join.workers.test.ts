import { expect, it } from 'vitest'
import { joinWith } from '../../../../src/launch/websocket/join.js'
import { openRendezvous } from '../../../../src/launch/websocket/rendezvous.js'

it('a process that cannot read the settings of its world leaves it', async () => {
  const rendezvous = await openRendezvous({ processes: 1, settings: '{"ranks":0}' })
  const { url, world } = rendezvous
  await expect(joinWith(() => 1, 'digest', { url, token: world.token })).rejects.toMatchObject({
    code: 'ERR_PROTOCOL',
  })
  expect(await world.ended).toEqual({
    ...{ lost: [], closed: null },
    failed: expect.stringMatching(/^ERR_PROTOCOL: expected the settings of a world/),
  })
  await rendezvous.close('done')
})
