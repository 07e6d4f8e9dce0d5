import type { FriendGroups } from '../../src/topology/friends/friend-groups.js'
import type { ProcessTopology } from '../../src/topology/process-topology.js'

export interface PlainGroups {
  readonly groups: readonly {
    readonly step: number
    readonly members: readonly number[]
    readonly common: readonly number[]
  }[]
  readonly direct: readonly (readonly number[])[]
}

/** The distinct out-neighbors of every rank, straight from the definition. */
export function outSets({ ranks, outStart, outRank }: ProcessTopology): Set<number>[] {
  return Array.from({ length: ranks }, (_, p) => {
    const row = new Set(outRank.subarray(outStart[p], outStart[p + 1]))
    row.delete(p)
    return row
  })
}

/** All k-subsets of ascending `items`, in lexicographic order. */
export function* subsets(items: readonly number[], k: number): Generator<number[]> {
  if (k === 0) {
    yield []
    return
  }
  for (const [i, first] of items.entries())
    for (const rest of subsets(items.slice(i + 1), k - 1)) yield [first, ...rest]
}

/** Ranks that send to anyone: no other rank has common neighbors. */
export const sendersIn = (out: readonly ReadonlySet<number>[]): number[] =>
  [...out.keys()].filter((p) => out[p].size > 0)

export function commonOf(out: readonly ReadonlySet<number>[], members: readonly number[]): number[] {
  return [...out[members[0]]].filter((q) => members.every((p) => out[p].has(q))).sort((a, b) => a - b)
}

export const sameNode = (nodeOf: Int32Array | null, members: readonly number[]): boolean =>
  nodeOf === null || members.every((p) => nodeOf[p] === nodeOf[members[0]])

/** Greedy grouping by enumerating every hyperedge in every round (Ghazimirsaeed 2019 §7.3 with our order). */
export function groupExhaustively(
  topology: ProcessTopology,
  k: number,
  theta: number,
  nodeOf: Int32Array | null,
  labels: Int32Array = Int32Array.from({ length: topology.ranks }, (_, rank) => rank),
): PlainGroups {
  const out = outSets(topology)
  const groups: { step: number; members: number[]; common: number[] }[] = []
  const all = [...subsets(sendersIn(out), k)].filter((members) => sameNode(nodeOf, members))
  const labelsOf = (members: readonly number[]) => members.map((p) => labels[p]).sort((a, b) => a - b)
  all.sort((a, b) => firstDifference(labelsOf(a), labelsOf(b)))
  for (let step = 0; ; step++) {
    const hyperedges = all
      .map((members) => ({ step, members, common: commonOf(out, members) }))
      .filter(({ common }) => common.length > theta)
    if (hyperedges.length === 0) break
    // Hyperedges come in lexicographic order of their labels and the sort is stable.
    hyperedges.sort((a, b) => b.common.length - a.common.length)
    const used = new Set<number>()
    const taken = []
    for (const hyperedge of hyperedges) {
      if (hyperedge.members.some((p) => used.has(p))) continue
      for (const p of hyperedge.members) used.add(p)
      taken.push(hyperedge)
    }
    for (const { members, common } of taken) for (const p of members) for (const q of common) out[p].delete(q)
    groups.push(...taken.sort((a, b) => a.members[0] - b.members[0]))
  }
  return { groups, direct: out.map((row) => [...row].sort((a, b) => a - b)) }
}

/** Friend groups as plain lists, for comparison. */
export function plainGroupsOf(found: FriendGroups): PlainGroups {
  const { count, k, step, members, commonStart, common, directStart, direct, ranks } = found
  return {
    groups: Array.from({ length: count }, (_, g) => ({
      step: step[g],
      members: [...members.subarray(g * k, (g + 1) * k)],
      common: [...common.subarray(commonStart[g], commonStart[g + 1])],
    })),
    direct: Array.from({ length: ranks }, (_, p) => [...direct.subarray(directStart[p], directStart[p + 1])]),
  }
}

function firstDifference(a: readonly number[], b: readonly number[]): number {
  const i = a.findIndex((value, at) => value !== b[at])
  return i < 0 ? 0 : a[i] - b[i]
}

/** The weight of the heaviest set of disjoint hyperedges, by trying all. */
export function heaviestGrouping(
  topology: ProcessTopology,
  k: number,
  theta: number,
  nodeOf: Int32Array | null,
): number {
  const out = outSets(topology)
  const hyperedges = [...subsets(sendersIn(out), k)]
    .filter((members) => sameNode(nodeOf, members))
    .map((members) => ({ members, weight: commonOf(out, members).length }))
    .filter(({ weight }) => weight > theta)
  const heaviest = (from: number, used: ReadonlySet<number>): number => {
    let best = 0
    for (let p = from; p < topology.ranks; p++) {
      if (used.has(p)) continue
      for (const { members, weight } of hyperedges) {
        if (members[0] !== p || members.some((member) => used.has(member))) continue
        best = Math.max(best, weight + heaviest(p + 1, new Set([...used, ...members])))
      }
    }
    return best
  }
  return heaviest(0, new Set())
}
