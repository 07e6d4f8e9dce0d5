import { describe, expect, test } from 'vitest'
import { readProfile, readSeconds, trafficOf } from '../../../src/profile/profile.js'
import { kindOf, summaryOf } from '../../../src/profile/summary.js'

const header = (ranks: number, nodes = ['a']) =>
  JSON.stringify({ format: 'rankweave-profile-1', mpi: 'Open MPI 4.1.4', ranks, nodes })

const processLine = (rank: number, given: object = {}) =>
  JSON.stringify({
    ...{ rank, node: 0, seconds: 10, inMpi: 0, calls: [], sends: [], blocks: [], sizes: [], collectives: [] },
    ...given,
  })

const call = (name: string, seconds: number) => ({ name, calls: 1, seconds, bytes: 0 })

describe('a profile', () => {
  test('is read with its processes by rank', () => {
    const profile = readProfile(
      `${header(2)}\n${processLine(0)}\n${processLine(1, { sends: [[0, 2, 16]] })}\n`,
    )
    expect(profile).toMatchObject({ mpi: 'Open MPI 4.1.4', ranks: 2, nodes: ['a'] })
    expect(profile.processes[1].sends).toEqual([[0, 2, 16]])
  })

  test.each([
    ['', /line 1: expected an object in JSON/],
    ['{"format":"rankweave-profile-2"}', /line 1: .* got in format/],
    [header(2), /expected a line for each of 2 ranks, got 0/],
    [`${header(1)}\n${processLine(1)}`, /line 2: expected rank 0, got 1/],
    [`${header(1)}\n${processLine(0, { node: 1 })}`, /line 2: expected a node below 1, got 1/],
    [`${header(1)}\n${processLine(0, { sends: [[1, 1, 8]] })}`, /line 2: expected a peer below 1, got 1/],
    [`${header(1)}\n${processLine(0, { sizes: [[-2, 1, 8]] })}`, /line 2: .* got in sizes.0.0/],
    [`${header(1)}\n${processLine(0).slice(0, -1)}`, /line 2: expected an object in JSON/],
  ])('that is not whole names its line: %s', (text, message) => {
    const read = () => readProfile(text, 'p.json')
    expect(read).toThrow(message)
    expect(read).toThrow(expect.objectContaining({ code: 'ERR_FILE', details: { file: 'p.json' } }))
  })

  test('of time alone gives the seconds of the slowest process', () => {
    expect(readSeconds(`{"format":"rankweave-profile-1","mpi":"MPICH 4","ranks":2,"seconds":1.5}\n`)).toBe(
      1.5,
    )
    expect(() => readSeconds(header(2))).toThrow(/got in seconds/)
  })

  test('gives traffic by pair of ranks, of messages and blocks, without what ranks send themselves', () => {
    const sends = [
      [2, 3, 24],
      [0, 1, 8],
      [1, 1, 1],
    ]
    const lines = [
      header(3),
      processLine(0, { sends, blocks: [[2, 1, 100]] }),
      processLine(1),
      processLine(2),
    ]
    expect(trafficOf(readProfile(lines.join('\n'))).edges).toEqual([
      { source: 0, destination: 1, messages: 1, bytes: 1 },
      { source: 0, destination: 2, messages: 4, bytes: 124 },
    ])
  })
})

describe('a summary', () => {
  const summaryOfLines = (...lines: string[]) =>
    summaryOf(readProfile([header(lines.length), ...lines].join('\n')))

  test('adds time by kind of call, and imbalance is the largest time outside MPI by the mean', () => {
    const summary = summaryOfLines(
      processLine(0, { inMpi: 2, calls: [call('MPI_Isend', 1), call('MPI_Waitall', 1)] }),
      processLine(1, { inMpi: 6, calls: [call('MPI_Waitall', 4), call('MPI_Allreduce', 2)] }),
    )
    expect(summary.inMpi).toBeCloseTo(0.4)
    expect(summary.inMpiOfHeaviest).toBeCloseTo(0.6)
    expect(summary.kinds).toMatchObject({ moving: 0.05, waiting: 0.25, collective: 0.1 })
    expect(summary.imbalance).toBeCloseTo(8 / 6)
    expect(summary.calls[0]).toMatchObject({ name: 'MPI_Waitall', calls: 2, seconds: 5, share: 0.25 })
  })

  test('scales the time of several threads to that of the longest in MPI', () => {
    const { inMpi, kinds } = summaryOfLines(
      processLine(0, { inMpi: 4, calls: [call('MPI_Isend', 2), call('MPI_Wait', 6)] }),
    )
    expect(inMpi).toBeCloseTo(0.4)
    expect(kinds.moving).toBeCloseTo(0.1)
    expect(kinds.waiting).toBeCloseTo(0.3)
  })

  test('tells traffic within nodes from that between them', () => {
    const lines = [
      header(2, ['a', 'b']),
      processLine(0, { sends: [[1, 2, 16]], blocks: [[0, 1, 4]], sizes: [[3, 2, 16]] }),
      processLine(1, { node: 1, sizes: [[-1, 5, 0]] }),
    ]
    const summary = summaryOf(readProfile(lines.join('\n')))
    expect(summary.traffic).toEqual({
      ...{ within: { messages: 0, bytes: 0 }, between: { messages: 2, bytes: 16 }, pairs: 1 },
    })
    expect(summary.sizes).toEqual([
      { from: 0, messages: 5, bytes: 0 },
      { from: 8, messages: 2, bytes: 16 },
    ])
  })

  test('adds a collective over ranks by its size class', () => {
    const one = { name: 'MPI_Alltoallv', ranks: 4, bytes: 9, calls: 1, seconds: 1, zeros: 3, counts: 4 }
    const summary = summaryOfLines(
      processLine(0, { collectives: [one] }),
      processLine(1, {
        collectives: [
          { ...one, bytes: 15 },
          { ...one, bytes: 16 },
        ],
      }),
    )
    expect(summary.collectives).toEqual([
      { name: 'MPI_Alltoallv', ranks: 4, bytes: 12, calls: 2, seconds: 2, share: 0.1, zeros: 0.75 },
      { name: 'MPI_Alltoallv', ranks: 4, bytes: 16, calls: 1, seconds: 1, share: 0.05, zeros: 0.75 },
    ])
  })

  test('bounds each lever by the rank that spends most in its calls, and by time outside MPI', () => {
    const { levers } = summaryOfLines(
      processLine(0, { inMpi: 6, calls: [call('MPI_Ineighbor_alltoallv', 1), call('MPI_Wait', 5)] }),
      processLine(1, { inMpi: 7, calls: [call('MPI_Allreduce', 2), call('MPI_Wait', 5)] }),
    )
    expect(levers.neighborhood).toBeCloseTo(0.6)
    expect(levers.collectives).toBeCloseTo(0.2)
    expect(levers.placement).toBeCloseTo(0.6)
    expect(levers.sparseAlltoall).toBe(0)
  })

  test('bounds sparse exchanges by blocking ones, of which more than half of the counts are zero', () => {
    const exchange = (name: string, zeros: number) => ({
      ...{ name, ranks: 2, bytes: 8, calls: 1, seconds: 1, zeros, counts: 3 },
    })
    const bound = (name: string, zeros: number) =>
      summaryOfLines(
        processLine(0, {
          inMpi: 5,
          calls: [call(name, 1), call('MPI_Wait', 4)],
          collectives: [exchange(name, zeros)],
        }),
      ).levers.sparseAlltoall
    expect(bound('MPI_Alltoallv', 1)).toBe(0)
    expect(bound('MPI_Alltoallv', 2)).toBeCloseTo(0.1)
    expect(bound('MPI_Ialltoallv', 2)).toBe(0)
  })

  test.each([
    ['MPI_Send', 'moving'],
    ['MPI_Ibsend', 'moving'],
    ['MPI_Ssend_init', 'moving'],
    ['MPI_Recv_init', 'moving'],
    ['MPI_Sendrecv_replace', 'moving'],
    ['MPI_Startall', 'moving'],
    ['MPI_Recv', 'waiting'],
    ['MPI_Improbe', 'waiting'],
    ['MPI_Iprobe', 'waiting'],
    ['MPI_Testsome', 'waiting'],
    ['MPI_Ibarrier', 'waiting'],
    ['MPI_Ireduce_scatter_block', 'collective'],
    ['MPI_Bcast_init', 'collective'],
    ['MPI_Ialltoallw', 'collective'],
    ['MPI_Neighbor_allgather', 'neighborhood'],
    ['MPI_Ineighbor_alltoallv', 'neighborhood'],
    ['MPI_Get', 'one-sided'],
    ['MPI_Win_fence', 'one-sided'],
    ['MPI_File_write_at', 'files'],
    ['MPI_Comm_split', 'other'],
  ])('%s is of the kind %s', (name, kind) => expect(kindOf(name)).toBe(kind))
})
