import type { TypedArray } from '../messages/datatype/elements.js'
import { waitall } from '../messages/p2p/request.js'
import { elements, ranksOf } from './collective-oracles.js'
import { same } from './expect.js'
import { flowSettings } from './message-checks.js'
import type { WorldCase } from './world-case.js'

const floodMessages = 200

/** The cases with more data and messages than a fabric's buffers and the credits hold. */
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
      // The latest message is received first, so that all others remain unexpected.
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
      // The size is odd, and the data do not begin at the start of their buffer.
      const bytes = Math.min(largeBytes / 8, 8 * 2 ** 20) + 13
      const [to, from] = [(rank + 1) % size, (rank + size - 1) % size]
      const source = filled(new Uint8Array(bytes + 3), rank).subarray(3)
      const expected = filled(new Uint8Array(bytes + 3), from).subarray(3)
      const into = new Uint8Array(bytes + 5).subarray(5)
      const sent = world.isend(source, to, 1)
      await world.recv(from, 1, { into })
      await sent.wait()
      sameBytes(into, expected)
      await world.sendrecv(source, rank, rank, { into })
      sameBytes(into, source)
      // Memory that a fabric may reach directly is sent into such memory and into ordinary memory, and back.
      const direct = world.alloc(bytes + 3).subarray(3)
      direct.set(source)
      const intoDirect = world.alloc(bytes + 5).subarray(5)
      for (const [data, buffer] of [
        [direct, into.fill(0)],
        [direct, intoDirect],
        [source, intoDirect.fill(0)],
      ] as const) {
        const sending = world.isend(data, to, 2)
        await world.recv(from, 2, { into: buffer })
        await sending.wait()
        sameBytes(buffer, expected)
      }
    },
  },
  {
    name: 'the largest message arrives complete, from the first rank to the last, sent and broadcast',
    async check(world, { largeBytes }) {
      const { rank, size } = world
      const words = Math.ceil(largeBytes / 4)
      const last = size - 1
      // The data go between two ranks only: a copy for each of many would not fit in memory.
      const pair = await world.split(rank === 0 || rank === last ? 0 : null, rank)
      if (pair === null) return
      const data = filled(new Uint32Array(words), rank)
      if (rank === 0) {
        if (last > 0) await pair.ssend(data, 1, 2)
        await pair.bcast(data, 0)
      } else {
        await pair.recv(0, 2, { into: data })
        sameFill(data, 0)
        await pair.bcast(null, 0, { into: data.fill(1) })
        sameFill(data, 0)
      }
      await pair.free()
    },
  },
]

/** Fills an array with elements that encode their array and position. */
function filled<A extends TypedArray & { [index: number]: number }>(array: A, salt: number): A {
  for (let i = 0; i < array.length; i++) array[i] = mixed(i, salt)
  return array
}

/** Compares without a copy of the expected array: the largest message is most of the memory. */
function sameFill(array: Uint32Array, salt: number): void {
  for (let i = 0; i < array.length; i++) {
    const expected = mixed(i, salt)
    if (array[i] !== expected) throw different(i, array.length, expected, array[i])
  }
}

/** Compares by the runtime: a loop over the elements would be most of the time of a suite. */
function sameBytes(actual: Uint8Array, expected: Uint8Array): void {
  if (Buffer.compare(actual, expected) === 0) return
  const at = expected.findIndex((byte, i) => byte !== actual[i])
  throw different(at, expected.length, expected[at], actual[at])
}

const different = (at: number, length: number, expected: number | undefined, actual: number | undefined) =>
  new Error(`element ${at} of ${length}: expected ${expected}, got ${actual}`)

const mixed = (i: number, salt: number) =>
  (Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(salt + 1, 0x85ebca6b)) >>> 0
