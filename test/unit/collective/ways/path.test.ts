import { algorithmOf, scheduleOf, verify } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { drawnPermutation, mulberry32 } from '../../../../src/base/random.js'
import { pathBox } from '../../../../src/collective/ways/box.js'
import { cubeWays } from '../../../../src/collective/ways/cube-way.js'
import { nodesOfGrid, torusGrid } from '../../../support/way-messages.js'

/** Nodes of a grid from neighbor to neighbor, to and fro in every dimension. */
function nodesAlong(dims: readonly number[]): readonly number[] {
  let path = [0]
  let stride = 1
  for (const extent of dims) {
    const line = path
    path = Array.from({ length: extent }, (_, i) =>
      (i % 2 === 0 ? line : line.toReversed()).map((node) => node + i * stride),
    ).flat()
    stride *= extent
  }
  return path
}

describe('members of an irregular partition, along the path through all nodes', () => {
  test.each([[[8]], [[5, 4]], [[4, 4, 4]], [[3, 5, 2]]])('%j: in the order of the path', (dims) => {
    const grid = torusGrid(dims)
    const { at } = pathBox(grid, nodesOfGrid(grid), 0)
    expect([...at]).toEqual(nodesAlong(dims))
    const coordinates = (node: number): number[] => {
      let rest = node
      return dims.map((extent) => {
        const at = rest % extent
        rest = Math.floor(rest / extent)
        return at
      })
    }
    for (let turn = 0; turn < dims.length; turn++) {
      const path = [...pathBox(grid, nodesOfGrid(grid), turn).at]
      for (let i = 1; i < path.length; i++) {
        const [a, b] = [coordinates(path[i - 1]), coordinates(path[i])]
        expect(a.reduce((sum, at, d) => sum + Math.abs(at - b[d]), 0)).toBe(1)
      }
    }
  })

  test('exchanges at distance d load no link of the path by more than d, or 2 d where members are no power of two', () => {
    const next = mulberry32(38)
    for (const dims of [[32], [6, 7], [4, 4, 4], [3, 2, 2, 4]])
      for (const share of [1, 0.8, 0.3]) {
        const nodes = dims.reduce((product, extent) => product * extent, 1)
        // Of other numbers up to d members have no partner at distance d: what acts for it is further away.
        for (const members of [2 ** Math.floor(Math.log2(nodes * share)), Math.floor(nodes * share)])
          check(dims, members)
      }

    function check(dims: readonly number[], members: number): void {
      const nodes = dims.reduce((product, extent) => product * extent, 1)
      const isPower = Math.log2(members) % 1 === 0
      const mostPerDistance = isPower ? 1 : 2
      const place = drawnPermutation(next, nodes).slice(0, members)
      const grid = { ...torusGrid(dims, false), place }
      const positionOf = new Int32Array(nodes)
      for (const [position, node] of nodesAlong(dims).entries()) positionOf[node] = position
      const [way] = cubeWays(grid, members, 'path', 1)
      const loads = Array.from({ length: way.stages }, () => [new Int32Array(nodes), new Int32Array(nodes)])
      for (let rank = 0; rank < members; rank++)
        for (const { stage, peer, isSent } of way.messages(rank)) {
          if (!isSent) continue
          const [from, to] = [positionOf[place[rank]], positionOf[place[peer]]]
          const load = loads[stage][from < to ? 0 : 1]
          for (let link = Math.min(from, to); link < Math.max(from, to); link++) load[link]++
        }
      for (const [stage, directions] of loads.entries()) {
        const distance = 2 ** (way.stages - 1 - stage)
        for (const load of directions)
          expect(load.reduce((most, count) => Math.max(most, count), 0)).toBeLessThanOrEqual(
            mostPerDistance * distance,
          )
      }
      for (const ports of [1, dims.length]) {
        const algorithm = algorithmOf(`allgather-reordered:order=path,ports=${ports}`)
        const schedule = scheduleOf(algorithm, { ranks: members, segments: ports, grid })
        expect(verify(schedule).violations).toEqual([])
      }
    }
  })
})
