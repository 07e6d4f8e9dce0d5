import { expect, it } from 'vitest'
import { host } from '../../../../src/launch/websocket/host.js'
import { join } from '../../../../src/launch/websocket/join.js'
import { openRendezvous } from '../../../../src/launch/websocket/rendezvous.js'

it('a function is joined with what its program is called, and refused without', async () => {
  await expect(join(() => 1, { url: 'ws://127.0.0.1:9', token: 'any' })).rejects.toMatchObject({
    code: 'ERR_ARGUMENT',
    message: 'join: expected program, a text, got undefined',
  })
  await expect(join('program.js' as never, { url: 'ws://127.0.0.1:9', token: 'any' })).rejects.toMatchObject({
    code: 'ERR_ARGUMENT',
    message: "join: expected a function, or the URL of a module, as main, got 'program.js'",
  })
  const world = await host({ ranks: 3, processes: 1 })
  const { url, token } = world
  const joined = await join((each) => each.allreduce(each.rank, 'sum'), { url, token, program: 'of test' })
  expect(joined).toMatchObject({ ranks: 3, process: 0, firstRank: 0, results: [3, 3, 3] })
  await world.close()
})

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
