import { expect, it } from 'vitest'
import { CommRuntime } from '../../../src/comm/comm-state.js'
import { Communicator } from '../../../src/comm/communicator.js'
import { stridedTable } from '../../../src/comm/table/rank-table.js'
import { RankweaveError } from '../../../src/errors.js'
import { worldLayout } from '../../../src/messages/process/world-layout.js'
import { MemoryWorld } from '../../support/memory-membership.js'

let states = 0
/** States another length once it has been checked. */
class Later extends Float64Array {
  override get length() {
    return states === 0 ? super.length : states
  }
}

it('a receive whose array fails when its message arrives is ERR_TYPE, and the sender stays', async () => {
  const world = await MemoryWorld.open(2)
  const layout = worldLayout(2, ['a', 'b'])
  const options = { eagerLimitBytes: 65_536, creditBytes: 2 ** 20 }
  const [receiver, sender] = world.sessions.map(({ hosted }) => {
    const runtime = new CommRuntime(hosted[0], layout, options)
    return new Communicator(runtime.createContext({ leader: 0, counter: 0 }, stridedTable(2)), 0)
  })
  const failed = receiver
    .recv(1, 0, { into: new Later(4) })
    .catch(({ code }: { readonly code: string }) => code)
  states = 1_000
  await sender.send(new Float64Array(500), 0)
  expect(await failed).toBe('ERR_TYPE')
  await sender.send(Float64Array.of(7), 0)
  expect([...((await receiver.recv(1)).data as Float64Array)]).toEqual([7])
  expect(world.members.flatMap(({ reports }) => reports)).toEqual([])
  await world.close()
})

it('after an own error nothing more of the peer is delivered, and nothing is said against it', async () => {
  const world = await MemoryWorld.open(2)
  const [victim, peer] = world.sessions.map(({ hosted }) => hosted[0])
  const seen: number[] = []
  const lost = new Promise<unknown>((resolve) =>
    victim.attach({
      frame: (_, header) => {
        seen.push(header[0])
        if (header[0] === 1) throw new TypeError('a defect')
        if (header[0] === 2) throw new RankweaveError('ERR_PROTOCOL', 'what the defect leads to')
      },
      peerLost: () => {},
      worldLost: resolve,
    }),
  )
  peer.attach({ frame: () => {}, peerLost: () => {} })
  // Each in its own message, so that several come in one read.
  for (const word of [1, 3, 2]) {
    peer.send(0, Int32Array.of(word))
    peer.poll()
  }
  await expect(lost).resolves.toMatchObject({ code: 'ERR_FABRIC' })
  expect(seen).toEqual([1])
  expect(world.members.flatMap(({ reports }) => reports)).toEqual([])
  await world.close()
})
