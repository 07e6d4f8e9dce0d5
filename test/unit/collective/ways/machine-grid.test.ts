import { algorithmOf, scheduleOf, verify } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { boxOf, pathBox } from '../../../../src/collective/ways/box.js'
import { gridOfMachine } from '../../../../src/collective/ways/machine-grid.js'
import { machineOfCores } from '../../../../src/machine/machine.js'
import { parseMachine } from '../../../../src/machine/machine-text.js'

const gridOf = (text: string, coreOf: readonly number[] | null, ranks: number) =>
  gridOfMachine(parseMachine(text), coreOf, ranks)

describe('gridOfMachine', () => {
  it.each([
    ['torus:dims=2x3x2', 12, { dims: [2, 3, 2], wraps: [true, true, true] }],
    ['torus:dims=4x2,cores=3', 24, { dims: [4, 2], wraps: [true, true], perNode: 3 }],
    ['mesh:dims=3x3', 9, { dims: [3, 3], wraps: [false, false] }],
    ['torus:dims=4x4,wrap=10', 16, { dims: [4, 4], wraps: [true, false] }],
    ['cluster:nodes=5,cores=2', 10, { dims: [5], wraps: [false], perNode: 2 }],
    ['clos:radix=4,levels=2,nodes=8,cores=1', 8, { dims: [8], wraps: [false] }],
    ['torus:dims=1x1', 1, { dims: [1, 1], wraps: [true, true] }],
  ])('has all cores of %s in order', (text, ranks, grid) => {
    expect(gridOf(text, null, ranks)).toEqual(grid)
  })

  it('has the part of a torus that the participants fill, which wraps where it is as long', () => {
    expect(gridOf('torus:dims=4x4x4', null, 16)).toEqual({ dims: [4, 4, 1], wraps: [true, true, false] })
    expect(gridOf('torus:dims=4x4', [5, 6, 9, 10], 4)).toEqual({ dims: [2, 2], wraps: [false, false] })
  })

  it('has the nodes in use of a cluster only', () => {
    expect(gridOf('cluster:nodes=8,cores=2', [4, 5, 12, 13], 4)).toEqual({
      ...{ dims: [2], wraps: [false], perNode: 2 },
    })
  })

  it('has a place for the most participants of a node, whose others stay free', () => {
    const { place, ...grid } = gridOf('torus:dims=2x2,cores=3', null, 7)!
    expect(grid).toEqual({ dims: [2, 2], wraps: [true, true], perNode: 3 })
    expect(place).toBeUndefined()
    const uneven = gridOf('torus:dims=2x2,cores=3', [0, 3, 4, 6, 11], 5)!
    expect(uneven).toEqual({ ...grid, perNode: 2, place: Int32Array.of(0, 2, 3, 4, 6) })
    expect(boxOf(uneven, 5).dims).toEqual([5])
  })

  it('places participants by the order of their cores, several on one by their own', () => {
    const grid = gridOf('torus:dims=2x2,cores=2', [7, 6, 5, 4, 3, 2, 1, 0], 8)
    expect(grid).toEqual({
      ...{ dims: [2, 2], wraps: [true, true], perNode: 2 },
      place: Int32Array.of(7, 6, 5, 4, 3, 2, 1, 0),
    })
    expect(gridOf('torus:dims=2x1', [1, 1, 0, 0], 4)?.place).toEqual(Int32Array.of(2, 3, 0, 1))
  })

  it('of an irregular part of a torus is the torus, through which the participants are on a path', () => {
    const members = [0, 3, 5, 6, 10, 15]
    const grid = gridOf('torus:dims=4x4', members, 6)!
    expect(grid).toEqual({ dims: [4, 4], wraps: [true, true], place: Int32Array.from(members) })
    const { at, dims } = boxOf(grid, 6)
    expect(dims).toEqual([6])
    // To and fro: row 1 is passed backwards, so is row 3.
    expect([...at].map((participant) => members[participant])).toEqual([0, 3, 6, 5, 10, 15])
    expect(pathBox(grid, 6, 1).at).toHaveLength(6)
  })

  it('counts cores of a machine of which some nodes only pass messages on', () => {
    const machine = machineOfCores(parseMachine('torus:dims=4x4'), Int32Array.of(2, 3, 6, 7))
    expect(gridOfMachine(machine, null, 4)).toEqual({ dims: [2, 2], wraps: [false, false] })
  })

  it('is undefined beyond 2^24 places', () => {
    const machine = parseMachine('cluster:nodes=4096,cores=1')
    const coreOf = Int32Array.from({ length: 8192 }, (_, i) => (i < 4096 ? i : 0))
    expect(gridOfMachine(machine, coreOf.subarray(1), 8191)?.perNode).toBe(4096)
    expect(gridOfMachine(machine, coreOf, 8192)).toBeUndefined()
  })

  it('refuses cores that the machine does not have', () => {
    expect(() => gridOf('torus:dims=2x2', null, 5)).toThrow(expect.objectContaining({ code: 'ERR_MACHINE' }))
    expect(() => gridOf('torus:dims=2x2', [4], 1)).toThrow(expect.objectContaining({ code: 'ERR_MACHINE' }))
  })

  it.each([
    ['torus:dims=2x3x2', 12, { dims: '2x3x2' }],
    ['mesh:dims=2x3,cores=2', 12, { dims: '2x3', wrap: '00', perNode: 2 }],
    ['torus:dims=4x4', 7, { dims: '4x4' }],
  ])('is told by schedules on %s', (text, ranks, told) => {
    const grid = gridOf(text, null, ranks)!
    for (const id of ['allgather-bucket', 'allreduce-reordered']) {
      const schedule = scheduleOf(algorithmOf(id), { ranks, grid })
      expect(schedule.parameters).toMatchObject(told)
      expect(verify(schedule).ok).toBe(true)
    }
    expect(scheduleOf(algorithmOf('allgather-ring'), { ranks, grid }).parameters).not.toHaveProperty('dims')
  })
})
