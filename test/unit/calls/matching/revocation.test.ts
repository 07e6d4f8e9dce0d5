import { describe, expect, it } from 'vitest'
import { revocationDistances } from '../../../../src/calls/matching/revocation.js'
import { codeOf, drained, openWorld } from '../../messages/p2p/point-to-point-world.js'

/**
 * Hops after which every process that is not lost has learned it from process 0; infinity when one never
 * does.
 */
function hopsToAll(count: number, lost: ReadonlySet<number>): number {
  const distances = revocationDistances(count, false)
  const known = new Set([0])
  let last = [0]
  for (let hops = 0; ; hops++) {
    if (known.size === count - lost.size) return hops
    if (last.length === 0) return Number.POSITIVE_INFINITY
    const next: number[] = []
    for (const from of last) {
      for (const distance of distances) {
        const to = (from + distance) % count
        if (known.has(to) || lost.has(to)) continue
        known.add(to)
        next.push(to)
      }
    }
    last = next
  }
}

/** Every set of `size` processes from `first` to `count - 1`. */
function* lostSets(count: number, size: number, first = 1): Generator<number[]> {
  if (size === 0) yield []
  else
    for (let one = first; one < count; one++)
      for (const others of lostSets(count, size - 1, one + 1)) yield [one, ...others]
}

const lg = (count: number) => Math.ceil(Math.log2(count))

describe('the processes that each process informs', () => {
  it('are lg(count), and from any one all learn within lg(count) hops', () => {
    for (const count of [1, 2, 3, 4, 5, 7, 8, 16, 33, 100, 1000, 4096]) {
      expect(revocationDistances(count, false)).toHaveLength(lg(count))
      expect(hopsToAll(count, new Set())).toBeLessThanOrEqual(lg(count))
      expect(revocationDistances(count, true)).toHaveLength(count - 1)
    }
  })

  it('suffice when any lg(count) - 1 others are lost', () => {
    for (let count = 2; count <= 17; count++) {
      for (const lost of lostSets(count, lg(count) - 1)) {
        expect(hopsToAll(count, new Set(lost)), `${count} without ${lost}`).toBeLessThan(count)
      }
    }
  })
})

describe('a revoked communicator', () => {
  it.each([2, 3, 4, 7, 8, 16, 70])(
    'is revoked in all of %i processes when its initiator is lost after informing any one',
    async (processes) => {
      const reachable = processes > 64 ? [1, 2, 64] : Array.from({ length: processes - 1 }, (_, i) => i + 1)
      for (const reached of reachable) {
        const lose = (src: number, dst: number) => src === 0 && dst !== reached
        const world = await openWorld({ ranks: processes, processes, faults: { lose } })
        const { comms, session } = world
        // From ranks that survive, so that the loss alone does not fail them.
        const receives = comms.slice(1).map((comm, i) => comm.irecv(1 + ((i + 1) % (processes - 1))))
        expect(await codeOf(comms[0].barrier({ signal: AbortSignal.abort() }))).toBe('ERR_ABORTED')
        await drained(world)
        session.kill(0)
        await drained(world)
        for (const { pending } of receives) expect(pending.failure?.code).toBe('ERR_REVOKED')
        expect(await codeOf(comms[1].barrier())).toMatch(/ERR_REVOKED|ERR_PEER_LOST/)
        await session.close()
      }
    },
  )

  it('is revoked also where the loss of the initiator is known before the revocation', async () => {
    const delay = (src: number) => (src === 1 ? 20 : 0)
    const lose = (src: number, dst: number) => src === 0 && dst > 1
    const world = await openWorld({ ranks: 4, processes: 4, faults: { lose, delay } })
    const receives = [1, 2, 3].map((rank) => world.comms[rank].irecv(1 + (rank % 3)))
    const barrier = codeOf(world.comms[3].barrier())
    expect(await codeOf(world.comms[0].barrier({ signal: AbortSignal.abort() }))).toBe('ERR_ABORTED')
    while (receives[0].pending.failure === undefined) await new Promise(setImmediate)
    world.session.kill(0)
    await drained(world)
    expect(await barrier).toBe('ERR_PEER_LOST')
    for (const { pending } of receives) expect(pending.failure?.code).toBe('ERR_REVOKED')
    await world.session.close()
  })

  it('costs lg(count) frames per process when all of many revoke it at the same time', async () => {
    const processes = 100
    const world = await openWorld({ ranks: processes, processes })
    const codes = await Promise.all(
      world.comms.map((comm) => codeOf(comm.barrier({ signal: AbortSignal.abort() }))),
    )
    await drained(world)
    expect(new Set(codes)).toEqual(new Set(['ERR_ABORTED']))
    for (const { processCounters } of world.runtimes) expect(processCounters.framesSent).toBe(lg(processes))
    await world.session.close()
  })
})
