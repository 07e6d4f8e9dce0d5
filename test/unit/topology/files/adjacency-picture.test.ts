import { adjacencySvg, buildTopology, groupFriends, topologyFromEdges } from 'rankweave/topology'
import { expect, test } from 'vitest'
import { thrown } from '../thrown.js'

/** Cells that are drawn, as "column,row", and their colors. */
function cellsOf(svg: string): Map<string, string> {
  const cells = new Map<string, string>()
  for (const [, color, path] of svg.matchAll(/<path fill="(#\w+)"[^>]* d="([^"]*)"/g))
    for (const [, x, y, width] of path.matchAll(/M(\d+) (\d+)h(\d+)v1H\d+z/g))
      for (let i = 0; i < Number(width); i++) cells.set(`${Number(x) + i},${y}`, color)
  return cells
}

test('adjacencySvg marks every edge', () => {
  const topology = topologyFromEdges(5, { sources: [0, 0, 3, 3], destinations: [1, 2, 3, 0] })
  expect([...cellsOf(adjacencySvg(topology)).keys()].sort()).toEqual(['0,3', '1,0', '2,0', '3,3'])
})

test('adjacencySvg draws the edges that a group serves in its color, others in gray', () => {
  const topology = buildTopology('moore:6x6:r=2:open')
  const groups = groupFriends(topology, { k: 2, mode: 'agnostic' })
  const cells = cellsOf(adjacencySvg(topology, { groups }))
  const colorOf = new Map<number, string>()
  let served = 0
  for (let g = 0; g < groups.count; g++)
    for (const p of groups.members.subarray(g * 2, g * 2 + 2))
      for (const q of groups.common.subarray(groups.commonStart[g], groups.commonStart[g + 1])) {
        const color = cells.get(`${q},${p}`)!
        expect(colorOf.get(g) ?? color).toBe(color)
        expect(color).not.toBe('#5f6b76')
        colorOf.set(g, color)
        served++
      }
  expect(served).toBeGreaterThan(100)
  expect([...cells.values()].filter((color) => color === '#5f6b76')).toHaveLength(cells.size - served)
  expect(cells.size).toBe(topology.outRank.length)
})

test('adjacencySvg of many ranks shares cells, so the text stays short', () => {
  const topology = buildTopology('moore:100x100:r=2')
  const svg = adjacencySvg(topology, { cells: 100 })
  expect(svg).toContain('a cell is 100 x 100 ranks')
  for (const cell of cellsOf(svg).keys()) {
    const [column, row] = cell.split(',').map(Number)
    expect(Math.min((column - row + 100) % 100, (row - column + 100) % 100)).toBeLessThanOrEqual(2)
  }
  expect(adjacencySvg(buildTopology('rmat:65536:d=8')).length).toBeLessThan(2 ** 20)
})

test('adjacencySvg escapes titles', () => {
  const svg = adjacencySvg(buildTopology('cart:1'), { title: 'a<b>&"\u0007' })
  expect(svg).toContain('<title>a&lt;b&gt;&amp;&quot; </title>')
})

test.each([
  { cells: 7 },
  { cells: 1025 },
  { cells: 9.5 },
  { size: 1 },
  { groups: groupFriends(buildTopology('cart:4'), { k: 2, mode: 'agnostic' }) },
])('adjacencySvg rejects %j', (options) => {
  expect(thrown(() => adjacencySvg(buildTopology('cart:5'), options)).code).toBe('ERR_ARGUMENT')
})
