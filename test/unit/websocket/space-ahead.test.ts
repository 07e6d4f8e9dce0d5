import { expect, it } from 'vitest'
import { MemoryWorld, type MemoryWorldOptions } from '../../support/memory-membership.js'

const mebibyte = 2 ** 20

async function inWorld(options: MemoryWorldOptions, use: (world: MemoryWorld) => void): Promise<void> {
  const world = await MemoryWorld.open(3, options)
  try {
    for (const { hosted } of world.sessions) hosted[0].attach({ frame: () => {}, peerLost: () => {} })
    use(world)
  } finally {
    await world.close()
  }
}

const aheadOf = (world: MemoryWorld, process: number) => world.sessions[process].hosted[0].ahead

it('all links of a process share one window for what is sent ahead', async () => {
  await inWorld({}, (world) => {
    const ahead = aheadOf(world, 0)
    expect([ahead.windowBytes, ahead.spaceFor(1), ahead.spaceFor(2)]).toEqual([
      32 * mebibyte,
      32 * mebibyte,
      32 * mebibyte,
    ])
    const payload = new Uint8Array(2 ** 16)
    // What waits for the connection is queued, too.
    for (let n = 0; n < 160; n++) world.sessions[0].hosted[0].send(1, Int32Array.of(n), payload)
    expect(ahead.spaceFor(2)).toBeLessThanOrEqual(22 * mebibyte)
    expect(ahead.spaceFor(2)).toBeGreaterThan(21 * mebibyte)
  })
})

it('the window is at most half of what a link may queue, and none for a process that is relayed', async () => {
  const address = (process: number, url: string) => (process === 2 ? null : url)
  await inWorld({ address, limits: { maxQueuedBytes: 3 * mebibyte } }, (world) => {
    expect(aheadOf(world, 0).spaceFor(1)).toBe(1.5 * mebibyte)
    expect(aheadOf(world, 0).spaceFor(2)).toBe(0)
    expect(aheadOf(world, 2).spaceFor(0)).toBe(0)
    expect(aheadOf(world, 0).spaceFor(0)).toBe(0)
  })
})
