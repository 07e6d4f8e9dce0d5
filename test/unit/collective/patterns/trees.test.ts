import { describe, expect, test } from 'vitest'
import { binaryTreePlace } from '../../../../src/collective/patterns/rank-tree.js'
import { inOrderDepth, inOrderPlace } from '../../../../src/collective/reduce/reduce-in-order-binary.js'

/** The ranks of every subtree, by its root. */
function subtrees(parents: readonly number[]): readonly (readonly number[])[] {
  const members: number[][] = parents.map(() => [])
  parents.forEach((_, rank) => {
    for (let node = rank; node !== -1; node = parents[node]!) members[node]!.push(rank)
  })
  return members
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, rank) => rank)

test('the balanced binary tree: of two children the first has as many ranks, or one more, at every rank', () => {
  for (let ranks = 1; ranks <= 200; ranks++) {
    const places = upTo(ranks).map((vrank) => binaryTreePlace(ranks, vrank))
    const members = subtrees(places.map(({ parent }) => parent))
    expect(members[0]).toHaveLength(ranks)
    const unbalanced = places.filter(({ children, level, parent }, vrank) => {
      const [left = 0, right = 0] = children.map((child) => members[child]!.length)
      const isKnown = children.every((child) => places[child]!.parent === vrank)
      const isBelow = level === (parent === -1 ? 0 : places[parent]!.level + 1)
      return !isKnown || !isBelow || (left !== right && left !== right + 1)
    })
    expect([ranks, unbalanced]).toEqual([ranks, []])
  }
})

describe('the in-order binary tree', () => {
  const shapes = [...upTo(40), 63, 64, 65, 100]
    .slice(1)
    .flatMap((ranks) =>
      [...new Set([0, 1, Math.floor(ranks / 2), ranks - 1])]
        .filter((root) => root < ranks)
        .map((root) => ({ ranks, root, places: upTo(ranks).map((rank) => inOrderPlace(ranks, root, rank)) })),
    )

  test('every subtree is a run of ranks, and children know their parents', () => {
    for (const { ranks, root, places } of shapes) {
      const members = subtrees(places.map(({ parent }) => parent))
      expect(members[root]).toEqual(upTo(ranks))
      places.forEach(({ children, depth, parent }, rank) => {
        const run = members[rank]!
        expect(run.at(-1)! - run[0]!).toBe(run.length - 1)
        expect([...children].sort((a, b) => a - b)).toEqual(
          upTo(ranks).filter((child) => places[child]!.parent === rank),
        )
        expect(depth).toBe(parent === -1 ? 0 : places[parent]!.depth + 1)
      })
    }
  })

  test('is as deep as it says: ceil(lg P) at most, floor(lg P) where the root is the first or last rank', () => {
    for (const { ranks, root, places } of shapes) {
      const depth = Math.max(...places.map((place) => place.depth))
      expect([ranks, root, depth]).toEqual([ranks, root, inOrderDepth(ranks, root)])
      expect(depth).toBeLessThanOrEqual(Math.ceil(Math.log2(ranks)))
      if (root === 0 || root === ranks - 1) expect(depth).toBe(Math.floor(Math.log2(ranks)))
    }
  })

  test('halves differ by one rank at most but below a root that is at neither end', () => {
    for (const { ranks, root, places } of shapes) {
      const members = subtrees(places.map(({ parent }) => parent))
      const unbalanced = places.filter(({ children }, rank) => {
        const [left = 0, right = 0] = [...children]
          .sort((a, b) => a - b)
          .map((child) => members[child]!.length)
        const mayDiffer = rank === root && root !== 0 && root !== ranks - 1
        return !mayDiffer && left !== right && left !== right + 1
      })
      expect([ranks, root, unbalanced]).toEqual([ranks, root, []])
    }
  })
})
