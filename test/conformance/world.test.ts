import { type Communicator, type Gathered, type LocalOptions, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { isSoak } from '../support/soak.js'

/** Elements that encode source, destination, slot and index. */
function payload(src: number, dst: number, slot: number, length: number): Float64Array {
  return Float64Array.from({ length }, (_, i) => src * 1e9 + dst * 1e6 + slot * 1e3 + i)
}

/** Messages and collectives of several kinds; returns what must be the same bits whatever is lost. */
async function program(world: Communicator): Promise<string> {
  const { rank, size } = world
  await world.barrier()
  // Every rank to every rank: several messages per pair, of different lengths, received in another order of
  // sources.
  const sends = []
  for (let dst = 0; dst < size; dst++) {
    for (let slot = 0; slot < 3; slot++) {
      sends.push(world.isend(payload(rank, dst, slot, slot * 50), dst, 5))
    }
  }
  for (let src = size - 1; src >= 0; src--) {
    for (let slot = 0; slot < 3; slot++) {
      const { data } = await world.recv<Float64Array>(src, 5)
      expect(data).toEqual(payload(src, rank, slot, slot * 50))
    }
  }
  for (const send of sends) await send.wait()

  const root = size - 1
  const received = await world.bcast(rank === root ? payload(root, 0, 0, 300) : null, root)
  expect(received).toEqual(payload(root, 0, 0, 300))
  const sum = await world.allreduce(Float64Array.of(0.1 * (rank + 1), 1 / (rank + 3)), 'sum')
  const all: Gathered<Float64Array> = await world.allgatherv(payload(rank, 0, 1, rank % 4))
  const prefix = await world.scan(Float64Array.of(1 / (rank + 1)), 'sum')
  const half = await world.split(rank % 2, -rank)
  const halfSum = await half.allreduce(Int32Array.of(rank), 'sum')
  await half.free()
  return [sum, all.data, all.counts, prefix, half.rank, half.size, halfSum].map(String).join(' | ')
}

/** Every message has its own tag, so that none can match in place of a lost one. */
async function ring(world: Communicator): Promise<string> {
  const { rank, size } = world
  const sums: string[] = []
  for (let round = 0; round < 6; round++) {
    const to = (rank + 1) % size
    const from = (rank + size - 1) % size
    const tags = { sendTag: round, recvTag: round }
    const { data } = await world.sendrecv<Float64Array>(payload(rank, to, round, 20), to, from, tags)
    expect(data).toEqual(payload(from, rank, round, 20))
    await world.barrier()
    sums.push(String(await world.allreduce(Float64Array.of(rank / 7, round), 'sum')))
  }
  return sums.join()
}

describe('a world that loses a process or a frame at any moment ends with a code', () => {
  const endOf = async (main: typeof program, options: LocalOptions) => {
    const reference = await run(main, { ranks: 7 })
    return run(main, { ranks: 7, fabric: local(options) }).then(
      (results) => (String(results) === String(reference) ? 'fine' : 'wrong results'),
      (error: { code?: string }) => error.code ?? String(error),
    )
  }

  for (const processes of [2, 5]) {
    it(`ends with ERR_PEER_LOST or completes when one of ${processes} processes is lost`, async () => {
      const codes = new Set<string>()
      for (let afterFrames = 1; afterFrames < 120; afterFrames += !isSoak ? 13 : 1) {
        const kill = [{ process: afterFrames % processes, afterFrames }]
        const code = await endOf(program, { processes, seed: afterFrames, faults: { kill } })
        expect(['fine', 'ERR_PEER_LOST'], `after ${afterFrames} frames`).toContain(code)
        codes.add(code)
      }
      expect(codes).toContain('ERR_PEER_LOST')
    })

    it(`ends with ERR_DEADLOCK or completes when a frame between ${processes} processes is lost`, async () => {
      const codes = new Set<string>()
      for (const lost of [0, 1, 2, 5, 11, 500]) {
        const lose = (src: number, dst: number, n: number) => src === 1 && dst === 0 && n === lost
        const code = await endOf(ring, { processes, seed: lost, faults: { lose } })
        expect(['fine', 'ERR_DEADLOCK'], `frame ${lost}`).toContain(code)
        codes.add(code)
      }
      expect(codes).toContain('ERR_DEADLOCK')
    })
  }
})
