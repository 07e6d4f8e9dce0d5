import type { TypedArray } from '../comm/datatype/elements.js'
import { waitall } from '../comm/p2p/request.js'
import { elements, ranksOf } from './collective-oracles.js'
import { same } from './expect.js'
import { flowSettings } from './message-checks.js'
import type { WorldCase } from './world-case.js'

/** Messages that each rank sends. */
const floodMessages = 200

/** More data and messages than a fabric's buffers and the credits hold. */
export const flowChecks: readonly WorldCase[] = [
  {
    name: 'a flood of unexpected messages delays neither its senders nor later collectives',
    settings: [...flowSettings, { creditBytes: 0 }],
    async check(world) {
      const { rank, size } = world
      const floodPerPair = Math.ceil(floodMessages / size)
      const content = (src: number, dest: number, n: number) =>
        elements(Uint8Array, n, src, dest, n % 10 === 0 ? 3000 : n % 50)
      const sending = ranksOf(world).flatMap((dest) =>
        Array.from({ length: floodPerPair }, (_, n) => world.isend(content(rank, dest, n), dest, n)),
      )
      await world.barrier()
      same(await world.allreduce(Int32Array.of(1), 'sum'), Int32Array.of(world.size), 'behind the flood')
      // The latest first, so that all others remain unexpected.
      for (const source of ranksOf(world)) {
        for (let n = floodPerPair - 1; n >= 0; n--) {
          same((await world.recv(source, n)).data, content(source, rank, n), `message ${n} of rank ${source}`)
        }
      }
      await waitall(sending)
    },
  },
  {
    name: 'large messages arrive complete, to other ranks and to the rank itself, in both directions at once and in parts of a buffer',
    settings: flowSettings,
    async check(world, { largeBytes }) {
      const { rank, size } = world
      // An odd size, and not at the start of its buffer.
      const bytes = Math.min(largeBytes / 8, 8 * 2 ** 20) + 13
      const [to, from] = [(rank + 1) % size, (rank + size - 1) % size]
      const source = filled(new Uint8Array(bytes + 3), rank).subarray(3)
      const into = new Uint8Array(bytes + 5).subarray(5)
      const sent = world.isend(source, to, 1)
      await world.recv(from, 1, { into })
      await sent.wait()
      sameFill(into, from, 3)
      await world.sendrecv(source, rank, rank, { into })
      sameFill(into, rank, 3)
      // Memory that a fabric may reach directly, into such memory and into ordinary memory, and back.
      const direct = filled(world.alloc(bytes + 3), rank).subarray(3)
      const intoDirect = world.alloc(bytes + 5).subarray(5)
      for (const [data, buffer] of [
        [direct, into.fill(0)],
        [direct, intoDirect],
        [source, intoDirect.fill(0)],
      ] as const) {
        const sending = world.isend(data, to, 2)
        await world.recv(from, 2, { into: buffer })
        await sending.wait()
        sameFill(buffer, from, 3)
      }
    },
  },
  {
    name: 'the largest message arrives complete, from the first rank to the last, sent and broadcast',
    async check(world, { largeBytes }) {
      const { rank, size } = world
      const words = Math.ceil(largeBytes / 4)
      const last = size - 1
      // Two ranks only: a copy for each of many would not fit in memory.
      const pair = await world.split(rank === 0 || rank === last ? 0 : null, rank)
      if (pair === null) return
      const data = filled(new Uint32Array(words), rank)
      if (rank === 0) {
        if (last > 0) await pair.ssend(data, 1, 2)
        await pair.bcast(data, 0)
      } else {
        await pair.recv(0, 2, { into: data })
        sameFill(data, 0, 0)
        await pair.bcast(null, 0, { into: data.fill(1) })
        sameFill(data, 0, 0)
      }
      await pair.free()
    },
  },
]

/** Elements that encode their array and position. */
function filled<A extends TypedArray & { [index: number]: number }>(array: A, salt: number): A {
  for (let i = 0; i < array.length; i++) array[i] = mixed(i, salt)
  return array
}

function sameFill(array: Uint8Array | Uint32Array, salt: number, start: number): void {
  const ofType = array instanceof Uint8Array ? 0xff : 0xffff_ffff
  for (let i = 0; i < array.length; i++) {
    const expected = (mixed(i + start, salt) & ofType) >>> 0
    if (array[i] !== expected) {
      throw new Error(`element ${i} of ${array.length}: expected ${expected}, got ${array[i]}`)
    }
  }
}

const mixed = (i: number, salt: number) =>
  (Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(salt + 1, 0x85ebca6b)) >>> 0
