import { describe, expect, test } from 'vitest'
import { closInterior, mostNodesOf, type Tree } from '../../../src/machine/interior.js'
import { linkLoads, steps } from './walk.js'

const trees: [Tree, number][] = [
  [{ radix: 4, levels: 1, nodesPerLeaf: 4 }, 4],
  [{ radix: 4, levels: 2, nodesPerLeaf: 2 }, 8],
  [{ radix: 8, levels: 2, nodesPerLeaf: 5 }, 23],
  [{ radix: 4, levels: 3, nodesPerLeaf: 2 }, 16],
  [{ radix: 4, levels: 3, nodesPerLeaf: 3 }, 20],
  [{ radix: 4, levels: 4, nodesPerLeaf: 2 }, 32],
  [{ radix: 4, levels: 4, nodesPerLeaf: 2 }, 3],
  [{ radix: 4, levels: 4, nodesPerLeaf: 1 }, 1],
  [{ radix: 4, levels: 4, nodesPerLeaf: 1 }, 3],
]

describe.each(trees)('%o with %i nodes', (tree, nodes) => {
  const interior = closInterior(tree, nodes)

  test('every route goes up to the first common switch and down again, to the leaf switch of the destination', () => {
    const leafOf = (node: number) => `switch 1.${Math.floor(node / tree.nodesPerLeaf)}`
    let longest = 0
    for (let from = 0; from < nodes; from++) {
      for (let to = 0; to < nodes; to++) {
        if (from === to) continue
        const walk = steps(interior, from, to)
        let at = leafOf(from)
        const heights = [1]
        for (const { name } of walk) {
          const [source, target] = name.split(' -> ')
          expect(source).toBe(at)
          at = target
          heights.push(Number(/switch (\d+)/.exec(target)![1]))
        }
        expect(at).toBe(leafOf(to))
        const top = walk.length / 2 + 1
        expect(heights).toEqual([
          ...Array.from({ length: top }, (_, i) => i + 1),
          ...Array.from({ length: top - 1 }, (_, i) => top - 1 - i),
        ])
        longest = Math.max(longest, walk.length)
      }
    }
    expect(interior.longestPath).toBe(longest)
  })

  test('what goes to one node comes down one way', () => {
    for (let to = 0; to < nodes; to++) {
      const downlinks = new Map<string, string>()
      for (let from = 0; from < nodes; from++) {
        if (from === to) continue
        const walk = steps(interior, from, to)
        for (const { name } of walk.slice(walk.length / 2)) {
          const target = name.split(' -> ')[1]
          expect(downlinks.get(target) ?? name).toBe(name)
          downlinks.set(target, name)
        }
      }
    }
  })
})

test('a tree has room for T nodes per leaf, radix / 2 branches between and radix at the top', () => {
  expect(mostNodesOf({ radix: 36, levels: 1, nodesPerLeaf: 36 })).toBe(36)
  expect(mostNodesOf({ radix: 40, levels: 2, nodesPerLeaf: 32 })).toBe(40 * 32)
  expect(mostNodesOf({ radix: 4, levels: 4, nodesPerLeaf: 2 })).toBe(2 * 2 * 2 * 4)
})

test('no switch has more cables than ports', () => {
  const tree = { radix: 6, levels: 3, nodesPerLeaf: 4 }
  const interior = closInterior(tree, mostNodesOf(tree))
  const ports = new Map<string, number>()
  for (let link = 0; link < interior.links; link++) {
    const [source] = interior.name(link).split(' -> ')
    ports.set(source, (ports.get(source) ?? 0) + 1)
  }
  for (const [name, count] of ports) expect(count).toBe(name.startsWith('switch 1.') ? 2 : 6)
})

// Sack 2011: exchanges that leave the leaf switch load its uplinks 1 / mu times, mu = 1/4.
test.each([32, 64, 128, 256, 512])(
  '1024 nodes, 32 per leaf of 40 ports: exchanges at distance %i load links 4 times',
  (distance) => {
    const interior = closInterior({ radix: 40, levels: 2, nodesPerLeaf: 32 }, 1024)
    const loads = linkLoads(interior, 1024, (node) => node ^ distance)
    expect(new Set(loads)).toEqual(new Set([4]))
  },
)
