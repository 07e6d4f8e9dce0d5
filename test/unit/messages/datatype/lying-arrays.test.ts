import { expect, it } from 'vitest'
import { bytesOf } from '../../../../src/base/bytes.js'
import { type Communicator, strided, type TopologyCommunicator } from '../../../../src/entry/index.js'
import { decodeValue } from '../../../../src/messages/datatype/value-reader.js'
import { encodeValue } from '../../../../src/messages/datatype/value-writer.js'
import { codeOf, onRanks } from '../../../support/on-ranks.js'

/** Classes that state another memory than they have. */
const liars = {
  byteLength: class extends Float64Array {
    override get byteLength() {
      return 1e9
    }
  },
  byteOffset: class extends Float64Array {
    override get byteOffset() {
      return 8
    }
  },
  length: class extends Float64Array {
    override get length() {
      return 1_000
    }
  },
  buffer: class extends Float64Array {
    override get buffer(): ArrayBuffer {
      return new ArrayBuffer(8)
    }
  },
} as const

const own = (name: string, value: unknown) => () =>
  Object.defineProperty(new Float64Array(4), name, { value })

/** Arrays of the library's own classes with a property of their own, or with the methods of another class. */
const masked: Readonly<Record<string, () => Float64Array>> = {
  'a length': own('length', 2),
  'a longer length': own('length', 1_000),
  'a number of bytes': own('byteLength', 1e9),
  'an offset': own('byteOffset', 8),
  'a buffer': own('buffer', new ArrayBuffer(32)),
  'a size of elements': own('BYTES_PER_ELEMENT', 1),
  'another class': () => Object.setPrototypeOf(new Float64Array(4), Uint8Array.prototype),
  'another class, of no array': () => Object.setPrototypeOf(new Float64Array(4), DataView.prototype),
}

const calls: Readonly<Record<string, (comm: Communicator, array: Float64Array) => unknown>> = {
  send: (comm, array) => comm.send(array, 1 - comm.rank),
  'a receive': (comm, array) => comm.recv(1 - comm.rank, 0, { into: array }),
  'a strided view': (comm, array) => comm.send(strided(array, { count: 2, blockLength: 1, stride: 2 }), 0),
  bcast: (comm, array) => comm.bcast(array, comm.rank),
  allreduce: (comm, array) => comm.allreduce(array, 'sum'),
  'allreduce into it': (comm, array) => comm.allreduce(new Float64Array(4), 'sum', { into: array }),
  allgather: (comm, array) => comm.allgather(array),
  alltoall: (comm, array) => comm.alltoall(array),
  allgatherv: (comm, array) => comm.allgatherv(array),
  'allgather into it': (comm, array) => comm.allgather(new Float64Array(2), { into: array }),
}

/** Calls of a ring of two ranks. */
const neighborCalls: Readonly<Record<string, (comm: TopologyCommunicator, array: Float64Array) => unknown>> =
  {
    neighborAllgather: (comm, array) => comm.neighborAllgather(array),
    'neighborAllgather into it': (comm, array) =>
      comm.neighborAllgather(new Float64Array(4), { into: array }),
    neighborAllgatherv: (comm, array) => comm.neighborAllgatherv(array),
    neighborAlltoall: (comm, array) => comm.neighborAlltoall(array),
    neighborAlltoallv: (comm, array) => comm.neighborAlltoallv(array, [4]),
    'neighborAlltoallv into it': (comm, array) =>
      comm.neighborAlltoallv(new Float64Array(4), [4], { into: array }),
  }

const lies = [
  ...Object.entries(liars).map(
    ([name, Liar]) => [`a class of its own and another ${name}`, () => new Liar(4)] as const,
  ),
  ...Object.entries(masked).map(([name, make]) => [`${name} that is not its own`, make] as const),
]

it.each(lies)('an array with %s is ERR_TYPE before anything is sent', async (_, make) => {
  await onRanks({ ranks: 2, fabric: 'local', processes: 2 }, async (comm) => {
    const other = 1 - comm.rank
    const ring = await comm.createDistGraphAdjacent({ sources: [other], destinations: [other] })
    for (const [call, use] of Object.entries(calls))
      expect([call, await codeOf(() => use(comm, make()))]).toEqual([call, 'ERR_TYPE'])
    for (const [call, use] of Object.entries(neighborCalls))
      expect([call, await codeOf(() => use(ring, make()))]).toEqual([call, 'ERR_TYPE'])
    await comm.barrier()
  })
})

it.each([1, 2])('arrays whose class overrides methods arrive, on %i processes', (processes) =>
  onRanks({ ranks: 2, fabric: 'local', processes }, async (comm) => {
    class Own extends Float64Array {
      static get [Symbol.species](): Float64ArrayConstructor {
        throw new Error('no copy')
      }
      override set(): void {
        throw new Error('no set')
      }
      override subarray(): Float64Array<ArrayBuffer> {
        throw new Error('no part')
      }
    }
    const mine = Own.of(comm.rank, 1, 2, 3) as Own
    const into = new Own(4)
    const shape = { count: 2, blockLength: 1, stride: 2 }
    const other = 1 - comm.rank
    const sent = comm.isend(mine, other)
    const { data } = await comm.recv(other, 0, { into })
    await sent.wait()
    expect(data).toBe(into)
    expect([...into]).toEqual([other, 1, 2, 3])
    const strides = comm.isend(strided(mine, shape), other)
    await comm.recv(other, 0, { into: strided(into, shape) })
    await strides.wait()
    expect([...into]).toEqual([other, 1, 2, 3])
    expect([...(await comm.allreduce(mine, 'sum', { into }))]).toEqual([1, 2, 4, 6])
    expect([...(await comm.bcast(comm.rank === 0 ? mine : into, 0))]).toEqual([0, 1, 2, 3])
  }).then(() => {}),
)

it('bytes are those of the memory, whatever the class states', () => {
  for (const Liar of Object.values(liars)) {
    const array = new Liar(4)
    array[3] = 5
    const bytes = bytesOf(array)
    expect(bytes.length).toBe(32)
    expect(bytes[31]).toBe(0x40)
  }
})

it('a value with such views is read as it lies in memory', () => {
  const value = {
    array: new liars.length(4),
    view: Object.defineProperty(new DataView(new ArrayBuffer(8)), 'byteLength', { value: 1e9 }),
  }
  const { array, view } = decodeValue(encodeValue(value)) as typeof value
  expect([array.length, view.byteLength]).toEqual([4, 8])
})
