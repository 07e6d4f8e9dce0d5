import { expect, it } from 'vitest'
import { CommRuntime } from '../../../src/comm/comm-state.js'
import { stridedTable } from '../../../src/comm/table/rank-table.js'
import { Communicator } from '../../../src/handles/communicator.js'
import { untrustedEnvelopeChargeBytes } from '../../../src/messages/process/credit.js'
import { frameKind, headerWord } from '../../../src/messages/process/frames.js'
import { runtimeOptions } from '../../../src/messages/process/runtime.js'
import { worldLayout } from '../../../src/messages/process/world-layout.js'
import { fabricOf, inMemoryWorld, sendWord } from '../../support/memory-links.js'
import { MemoryWorld } from '../../support/memory-membership.js'

const mebibyte = 2 ** 20

const aheadOf = (world: MemoryWorld, process: number) => fabricOf(world, process).ahead

it('all links of a process share one window for what is sent ahead', async () => {
  await inMemoryWorld(3, async (world) => {
    const ahead = aheadOf(world, 0)
    expect([ahead.windowBytes, ahead.spaceFor(1), ahead.spaceFor(2)]).toEqual([
      32 * mebibyte,
      32 * mebibyte,
      32 * mebibyte,
    ])
    // What waits for the connection is queued, too.
    for (let n = 0; n < 160; n++) sendWord(world, 0, 1, n, 2 ** 16)
    expect(ahead.spaceFor(2)).toBeLessThanOrEqual(22 * mebibyte)
    expect(ahead.spaceFor(2)).toBeGreaterThan(21 * mebibyte)
  })
})

it('the window is at most half of what a link may queue, and none for a process that is relayed', async () => {
  const address = (process: number, url: string) => (process === 2 ? null : url)
  const limits = { maxQueuedBytes: 3 * mebibyte }
  const read = async (world: MemoryWorld) => {
    const spaces = [0, 1, 2].map((peer) => aheadOf(world, 0).spaceFor(peer))
    expect([spaces, aheadOf(world, 2).spaceFor(0)]).toEqual([[0, 1.5 * mebibyte, 0], 0])
  }
  await inMemoryWorld(3, read, { address, limits })
})

it('credit fits in what a link may queue: by default, and else it is refused in words', async () => {
  const fits = async (world: MemoryWorld) => {
    for (const given of [{}, { creditBytes: 1.5 * mebibyte }])
      expect(runtimeOptions(given, fabricOf(world, 0)).creditBytes).toBe(1.5 * mebibyte)
  }
  await inMemoryWorld(3, fits, { limits: { maxQueuedBytes: 2 * mebibyte } })
  await inMemoryWorld(3, async (world) => {
    const fabric = fabricOf(world, 0)
    expect(runtimeOptions({}, fabric).creditBytes).toBe(32 * mebibyte)
    const refused = () => runtimeOptions({ creditBytes: 128 * mebibyte }, fabric)
    expect(refused).toThrow(expect.objectContaining({ code: 'ERR_ARGUMENT' }))
    expect(refused).toThrow('expected at most 50331648, three quarters of maxQueuedBytes of the world')
  })
  expect(runtimeOptions({ creditBytes: 2 ** 30 }, {}).creditBytes).toBe(2 ** 30)
})

it('a process that sends all its credit to one that takes nothing loses no process', async () => {
  const limits = { maxQueuedBytes: 2 * mebibyte }
  const world = await MemoryWorld.open(2, { limits })
  const layout = worldLayout(2, ['a', 'b'])
  const [fabric, other] = world.sessions.map(({ hosted }) => hosted[0])
  const runtime = new CommRuntime(fabric, layout, runtimeOptions({}, fabric))
  const comm = new Communicator(runtime.createContext({ leader: 0, counter: 0 }, stridedTable(2)), 0)
  const inCredit = Math.floor((1.5 * mebibyte) / untrustedEnvelopeChargeBytes)
  // All in one turn: the network takes nothing meanwhile.
  const sends = Array.from({ length: inCredit + 1 }, () => comm.send(new Uint8Array(0), 1, 1))
  let eager = 0
  await new Promise<void>((resolve) => {
    other.attach({
      frame: (_, header) => {
        if (header[headerWord.kind] === frameKind.eager) eager++
        if (header[headerWord.kind] === frameKind.rendezvous) resolve()
      },
      peerLost: () => {},
    })
  })
  expect(eager).toBe(inCredit)
  expect(world.members.map(({ reports }) => reports)).toEqual([[], []])
  for (const each of sends) each.catch(() => {})
  await world.close()
})
