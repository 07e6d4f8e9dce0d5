import { isRankweaveError, local, run, type VirtualCosts, VirtualTime } from 'rankweave'
import { describe, expect, test } from 'vitest'
import { TimedFrames } from '../../../../src/fabric/local/virtual-time.js'

const costs: VirtualCosts = {
  latencyNs: 1000,
  sendOverheadNs: 10,
  receiveOverheadNs: 20,
  gapNs: 50,
  nsPerByte: 2,
}

function codeOf(attempt: () => unknown): string {
  try {
    attempt()
  } catch (error) {
    return isRankweaveError(error) ? error.code : 'another error'
  }
  return 'none'
}

describe('in virtual time', () => {
  test('a frame costs overheads, latency and time per byte', () => {
    const time = new VirtualTime({ node: costs })
    time.reset(['a', 'a'])
    expect(time.send(0, 1, 100)).toBe(10 + 200 + 1000)
    expect(time.nowNs(0)).toBe(10)
    const withHeader = new VirtualTime({ node: { ...costs, headerBytes: 5 } })
    withHeader.reset(['a', 'a'])
    expect(withHeader.send(0, 1, 100)).toBe(10 + 210 + 1000)
    time.receive(0, 1, 1210, 100)
    expect(time.nowNs(1)).toBe(1230)
  })

  test('short frames follow each other by the gap, long ones by their bytes', () => {
    const time = new VirtualTime({ node: costs })
    time.reset(['a', 'a', 'a'])
    expect([time.send(0, 1, 0), time.send(0, 2, 0)]).toEqual([1010, 1060])
    expect([time.send(0, 1, 100), time.send(0, 2, 0)]).toEqual([1310, 1310])
  })

  test('what arrives at one process is spaced by the gap, too', () => {
    const time = new VirtualTime({ node: costs })
    time.reset(['a', 'a', 'a'])
    const [first, second] = [time.send(0, 2, 0), time.send(1, 2, 0)]
    expect([first, second]).toEqual([1010, 1010])
    time.receive(0, 2, first, 0)
    expect(time.arrivalNs(1, 2, second, 0)).toBe(1060)
    time.receive(1, 2, second, 0)
    expect(time.nowNs(2)).toBe(1080)
  })

  test('a level with tables of PLogP: L + g(m) from send to reception, and g(m) from one to the next', () => {
    const plogp = {
      ...{ latencyNs: 1000, sizesBytes: [0, 100], gapNs: [50, 250] },
      ...{ sendOverheadNs: [10, 20], receiveOverheadNs: [20, 120] },
    }
    const time = new VirtualTime({ node: { ...costs, plogp } })
    time.reset(['a', 'a', 'a'])
    const [long, short] = [time.send(0, 2, 100), time.send(0, 2, 0)]
    expect(time.nowNs(0)).toBe(20 + 10)
    expect([long + 120, short + 20]).toEqual([1250, 1300])
    time.receive(0, 2, long, 100)
    expect(time.nowNs(2)).toBe(1250)
    time.receive(0, 2, short, 0)
    expect(time.nowNs(2)).toBe(1300)
    // From another process at the same time: it is complete a g after the one before.
    const other = time.send(1, 2, 50)
    expect(other + 70).toBe(1150)
    time.receive(1, 2, other, 50)
    expect(time.nowNs(2)).toBe(1300 + 150)
  })

  test('tables of PLogP that are wrong are refused', () => {
    const plogp = { latencyNs: 0, sizesBytes: [], gapNs: [], sendOverheadNs: [], receiveOverheadNs: [] }
    expect(codeOf(() => new VirtualTime({ node: { ...costs, plogp } }))).toBe('ERR_ARGUMENT')
  })

  test('a frame from far away holds up none from near by that is sent later and comes earlier', () => {
    const time = new VirtualTime({ node: costs, network: { ...costs, latencyNs: 9000 } })
    const frames = new TimedFrames(time, ['a', 'a', 'b'])
    for (const src of [2, 0]) frames.send(src, 1, new Int32Array(4), new Uint8Array(0))
    const taken = [frames.takeFirst(), frames.takeFirst()].map((frame) => [frame?.src, time.nowNs(1)])
    expect(taken.map(([src]) => src)).toEqual([0, 2])
    expect(time.nowNs(1)).toBe(9010 + 20)
  })

  test('a frame of which only the gap is left has not arrived', () => {
    const time = new VirtualTime({ node: costs })
    const frames = new TimedFrames(time, ['a', 'a', 'a'])
    for (const src of [0, 2]) frames.send(src, 1, new Int32Array(4), new Uint8Array(0))
    expect(frames.takeFirst()?.src).toBe(0)
    expect(time.nowNs(1)).toBe(1030)
    expect(frames.takeArrived(1)).toBeUndefined()
    time.compute(1, 30)
    expect(frames.takeArrived(1)?.src).toBe(2)
  })

  test('a process that computes takes frames afterwards', () => {
    const time = new VirtualTime({ node: costs })
    time.reset(['a', 'a'])
    time.compute(1, 5000)
    time.receive(0, 1, time.send(0, 1, 0), 0)
    expect(time.nowNs(1)).toBe(5020)
  })

  test('frames between nodes have their own costs, those of a process to itself none', () => {
    const time = new VirtualTime({ node: costs, network: { ...costs, latencyNs: 7000 } })
    time.reset(['a', 'b'])
    expect(time.send(0, 1, 0)).toBe(7010)
    expect(time.send(1, 1, 0)).toBe(0)
  })

  test('a world takes the same time again, and every session starts at 0', async () => {
    const time = new VirtualTime({ node: costs })
    const fabric = local({ processes: 3, virtualTime: time })
    const main = async (world: import('../../../../src/handles/communicator.js').Communicator) => {
      const sum = await world.allreduce(world.rank, 'sum', { algorithm: 'allreduce-linear' })
      return [sum, time.nowNs(world.rank)]
    }
    const first = await run(main, { ranks: 3, fabric })
    expect(first.map(([sum]) => sum)).toEqual([3, 3, 3])
    expect(Math.max(...first.map(([, now]) => now))).toBeGreaterThan(2000)
    expect(await run(main, { ranks: 3, fabric })).toEqual(first)
  })

  test.each([
    ['a negative cost', { ...costs, gapNs: -1 }],
    ['a negative header', { ...costs, headerBytes: -1 }],
    ['a missing cost', { ...costs, latencyNs: undefined }],
    ['an unknown cost', { ...costs, jitterNs: 1 }],
  ])('%s is ERR_ARGUMENT', (_, node) => {
    expect(codeOf(() => new VirtualTime({ node: node as VirtualCosts }))).toBe('ERR_ARGUMENT')
  })

  test.each([
    ['a seed', { seed: 1 }],
    ['faults', { faults: { delay: 1 } }],
    ['bulk', { bulk: true }],
  ])('%s is ERR_WORLD', (_, options) => {
    const virtualTime = new VirtualTime({ node: costs })
    expect(codeOf(() => local({ processes: 2, virtualTime, ...options }))).toBe('ERR_WORLD')
  })
})
