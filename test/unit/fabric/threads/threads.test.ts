import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { ThreadsSession } from '../../../../src/fabric/threads/threads.js'
import {
  connectThreads,
  processState,
  resolveThreads,
  stateStride,
  threadsOfRanks,
} from '../../../../src/fabric/threads/threads-connect.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Two processes in this thread. */
async function inPair(use: (a: ThreadsSession, b: ThreadsSession) => Promise<void>): Promise<void> {
  const [a, b] = connectThreads(resolveThreads({ processes: 2 })).map(
    (connection) => new ThreadsSession(connection),
  )
  for (const { hosted } of [a, b]) hosted[0].attach({ frame: () => {}, peerLost: () => {} })
  try {
    await use(a, b)
  } finally {
    await Promise.all([a.close(), b.close()])
  }
}

it('a world that names no number of threads has one for each core, at most one for each rank', () => {
  const cores = availableParallelism()
  expect([1, cores, 4 * cores].map(threadsOfRanks)).toEqual([1, cores, cores])
})

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('shared memory of threads', () => {
  it('is readable by a peer before the event loop has delivered a message', () =>
    inPair(async (a, b) => {
      const [mine] = a.hosted
      const memory = new Uint8Array(mine.sharing.alloc(1000)).fill(7, 100, 200)
      const location = mine.sharing.locate(1, memory.subarray(100, 200))!
      const reached = b.hosted[0].sharing.reach(0, location, 100)
      expect(reached).toEqual(new Uint8Array(100).fill(7))
      memory[150] = 8
      expect(reached[50]).toBe(8)
    }))

  it('has one segment per buffer, announced once to each process', () =>
    inPair(async (a, b) => {
      const { sharing } = a.hosted[0]
      const buffer = sharing.alloc(64)
      const [first, second] = [0, 32].map((at) => sharing.locate(1, new Uint8Array(buffer, at, 8)))
      expect(second).toEqual({ segment: first!.segment, byteOffset: 32 })
      b.hosted[0].sharing.reach(0, first!, 8)
      expect(b.hosted[0].sharing.heldSegments).toBe(1)
    }))

  it('excludes ordinary memory and that of the process itself', () =>
    inPair(async (a) => {
      const { sharing } = a.hosted[0]
      expect(sharing.locate(1, new Uint8Array(8))).toBeUndefined()
      expect(sharing.locate(0, new Uint8Array(sharing.alloc(8)))).toBeUndefined()
    }))

  it('is released by its peers when its owner holds it no longer', () =>
    inPair(async (a, b) => {
      const { sharing } = a.hosted[0]
      const reach = () => {
        const location = sharing.locate(1, new Uint8Array(sharing.alloc(1 << 20)))!
        b.hosted[0].sharing.reach(0, location, 8)
      }
      for (let i = 0; i < 5; i++) reach()
      expect(b.hosted[0].sharing.heldSegments).toBe(5)
      while (b.hosted[0].sharing.heldSegments > 0) {
        collectGarbage()
        await turn()
      }
    }))

  it('is rejected when it was never announced', () =>
    inPair(async (_, b) => {
      expect(() => b.hosted[0].sharing.reach(0, { segment: 9, byteOffset: 0 }, 1)).toThrow(
        expect.objectContaining({ code: 'ERR_FABRIC' }),
      )
    }))
})

describe('a blocked process', () => {
  it('is awake once a peer has sent it a frame, and stays closed when it has closed', async () => {
    const connections = connectThreads(resolveThreads({ processes: 2 }))
    const states = new Int32Array(connections[0].states)
    const [a, b] = connections.map((connection) => new ThreadsSession(connection))
    for (const { hosted } of [a, b]) hosted[0].attach({ frame: () => {}, peerLost: () => {} })
    Atomics.store(states, stateStride, processState.blocked)
    a.hosted[0].send(1, Int32Array.of(1))
    expect(Atomics.load(states, stateStride)).toBe(processState.awake)
    await b.close()
    a.hosted[0].send(1, Int32Array.of(1))
    expect(Atomics.load(states, stateStride)).toBe(processState.closed)
    await a.close()
  })
})

describe('spin', () => {
  it('returns true once a frame was delivered, and false when none comes', () =>
    inPair(async (a, b) => {
      const [sender] = a.hosted
      const [receiver] = b.hosted
      expect(receiver.spin()).toBe(false)
      sender.send(1, Int32Array.of(1))
      expect(receiver.spin()).toBe(true)
      expect(receiver.counters.framesReceived).toBe(1)
      expect(receiver.tryPoll(3)).toBe(false)
    }))

  it('returns once a bulk transfer has settled: what follows from it is a microtask', () =>
    inPair(async (a, b) => {
      const [sender] = a.hosted
      const [receiver] = b.hosted
      const from = new Uint8Array(200_000).fill(9)
      const into = new Uint8Array(from.length)
      const transfers = [sender.bulk.send(1, 5, from), receiver.bulk.receive(0, 5, into)]
      expect(sender.spin()).toBe(true)
      expect(receiver.spin()).toBe(true)
      expect(into).toEqual(from)
      await Promise.all(transfers)
    }))

  it('yields to the event loop however many frames come', () =>
    inPair(async (a, b) => {
      const [sender] = a.hosted
      const [receiver] = b.hosted
      let spins = 0
      const go = () => {
        sender.send(1, Int32Array.of(1))
        return receiver.spin()
      }
      while (go()) spins++
      expect(spins).toBeGreaterThan(100)
      await turn()
      await turn()
      expect(go()).toBe(true)
    }))
})
