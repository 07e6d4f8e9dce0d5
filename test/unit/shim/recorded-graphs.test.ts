import { describe, expect, it } from 'vitest'
import {
  averagesText,
  graphLines,
  recordedExchange,
  recordedGraphs,
  trafficLine,
} from '../../../src/shim/recorded-graphs.js'

const files: Record<string, string> = {
  a: '# communicator 0, as seen by its rank 0\nranks 2\n0 1\n',
  b: '# communicator 1, as seen by its rank 0\n# MPI_Neighbor_allgather: 3 calls, the first is call 0, blocks of 4 to 8 bytes\nranks 2\n1 0\n0 1\n',
  c: '# communicator 2, as seen by its rank 0\n# MPI_Neighbor_allgather: 2 calls, the first is call 3, blocks of 2 to 4 bytes\n# MPI_Neighbor_alltoall: 1 calls, the first is call 5\nranks 2\n1 0\n0 1\n',
}

describe('recorded graphs', () => {
  it('are one for all communicators of the same graph, those with most calls first', () => {
    const graphs = recordedGraphs(Object.keys(files), (file) => files[file])
    expect(graphs).toMatchObject([
      {
        ...{ ranks: 2, edges: 2, communicators: 2, file: 'b' },
        functions: {
          MPI_Neighbor_allgather: { calls: 5, blocks: [2, 8] },
          MPI_Neighbor_alltoall: { calls: 1, blocks: null },
        },
      },
      { ranks: 2, edges: 1, communicators: 1, functions: {}, file: 'a' },
    ])
    expect(graphs[0].comments).toHaveLength(5)
    expect(graphLines(files['b'])).toBe('ranks 2\n1 0\n0 1\n')
  })

  it('count calls of every form', () => {
    const texts: Record<string, string> = {
      rare: '# MPI_Neighbor_allgather: 5 calls, the first is call 0, blocks of 4 to 4 bytes\nranks 2\n0 1\n',
      often:
        '# MPI_Ineighbor_alltoallw: 4 calls, the first is call 1, blocks of 8 to 8 bytes\n' +
        '# MPI_Neighbor_allgather_init: 2 calls, the first is call 9, blocks of 8 to 8 bytes\nranks 2\n1 0\n',
    }
    const graphs = recordedGraphs(Object.keys(texts), (file) => texts[file])
    expect(graphs.map(({ file }) => file)).toEqual(['often', 'rare'])
    expect(Object.keys(graphs[0].functions)).toEqual([
      'MPI_Ineighbor_alltoallw',
      'MPI_Neighbor_allgather_init',
    ])
  })

  it('have the nodes that the library found, or none', () => {
    const nodesOf = (text: string) => recordedGraphs(['one'], () => text)[0].nodes
    expect(nodesOf('# nodes of the ranks: 2x16+1x8\nranks 40\n0 1\n')).toBe('2x16+1x8')
    expect(nodesOf('# nodes of the ranks: ,\nranks 2\n0 1\n')).toBeNull()
    expect(nodesOf(files['a'])).toBeNull()
  })

  it('say which operation a program calls most, with the lengths of its blocks', () => {
    expect(recordedExchange(files['c'])).toEqual({ operation: 'neighbor-allgather', blocks: [2, 4] })
    const call = (name: string, calls: number, bytes: number) =>
      `# MPI_${name}: ${calls} calls, the first is call 1, blocks of ${bytes} to ${bytes} bytes\n`
    const mixed = call('Neighbor_allgather', 9, 4) + call('Neighbor_alltoall', 8, 64)
    expect(recordedExchange(`${mixed}${call('Ineighbor_alltoallv', 2, 512)}0 1\n`)).toEqual({
      ...{ operation: 'neighbor-alltoall', blocks: [64, 512] },
    })
    const edges = [
      { messages: 2, bytes: 16 },
      { messages: 3, bytes: 12 },
    ]
    expect(recordedExchange(`${trafficLine}\n${averagesText(edges)}\n`)).toEqual({
      ...{ operation: 'neighbor-alltoall', blocks: [4, 8] },
    })
    expect(recordedExchange(`${trafficLine}\n`)).toMatchObject({ blocks: null })
    expect([recordedExchange(files['a']), recordedExchange('')]).toEqual([null, null])
  })

  it('refuse a file that cannot be read', () => {
    const read = () => {
      throw new Error('Cannot create a string longer than 0x1fffffe8 characters')
    }
    const refused = expect.objectContaining({ code: 'ERR_SHIM', message: expect.stringContaining('big') })
    expect(() => recordedGraphs(['big'], read)).toThrow(refused)
  })

  it('refuse a file that is cut off', () => {
    expect(() => recordedGraphs(['x'], () => '# communicator 0\nranks 2\n0 ')).toThrow(
      'x is not a whole file',
    )
  })
})
