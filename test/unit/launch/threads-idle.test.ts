import type { Communicator } from 'rankweave'
import { expect, it } from 'vitest'
import { ownHandles } from '../../../src/fabric/own-handles.js'
import { ThreadsSession } from '../../../src/fabric/threads/threads.js'
import {
  connectThreads,
  processState,
  resolveThreads,
  stateStride,
} from '../../../src/fabric/threads/threads-connect.js'
import { hostSession } from '../../../src/world/world.js'

const turn = () => new Promise((resolve) => setImmediate(resolve))

it('64 ranks that wait in recv schedule nothing: their processes sleep until a frame arrives', async () => {
  const connections = connectThreads(resolveThreads({ processes: 2 }))
  const states = new Int32Array(connections[0].states)
  const asleep = () =>
    [0, 1].every((process) => Atomics.load(states, process * stateStride) === processState.asleep)
  let go = () => {}
  const told = new Promise<void>((resolve) => {
    go = resolve
  })
  const main = async (world: Communicator) => {
    if (world.rank > 0) return (await world.recv<Int32Array>(0, 1)).data[0]
    await told
    for (let rank = 1; rank < world.size; rank++) await world.send(Int32Array.of(rank), rank, 1)
    return 0
  }
  // Both in this thread, so that one event loop shows what both schedule.
  const worlds = connections.map((connection) =>
    hostSession(new ThreadsSession(connection), main, { ranks: 65 }),
  )
  while (!asleep()) await turn()
  for (let turns = 0; turns < 1000; turns++) {
    expect(asleep()).toBe(true)
    expect(ownHandles().immediates).toBe(0)
    await turn()
  }
  go()
  const results = (await Promise.all(worlds)).flat()
  expect(results).toEqual(Array.from({ length: 65 }, (_, rank) => rank))
})
