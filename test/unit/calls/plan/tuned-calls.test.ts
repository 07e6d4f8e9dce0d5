import type { DecisionTree, TuningFile } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { algorithms } from '../../../../src/collective/algorithms.js'
import { checkedCollectives } from '../../../../src/conformance/collective-checks.js'
import { oddTuning } from '../../../../src/conformance/collective-oracles.js'
import {
  type AlgorithmUse,
  type Communicator,
  createOperation,
  local,
  run,
} from '../../../../src/entry/index.js'
import { settingFrom, treeByBytes, tuningFileOf } from '../../../support/tuning-files.js'

type World = Communicator

/** What has run on rank 0's process, of one collective. */
async function usesOf(
  tuning: TuningFile | null,
  main: (world: World) => Promise<unknown>,
  options: { readonly ranks?: number; readonly nodes?: number } = {},
): Promise<readonly AlgorithmUse[]> {
  const { ranks = 4, nodes = 1 } = options
  const labels = Array.from({ length: ranks }, (_, i) => `n${Math.floor((i * nodes) / ranks)}`)
  const [uses] = await run(
    async (world) => {
      await main(world)
      return world.describe().collectives
    },
    { ranks, fabric: local({ processes: ranks, nodes: labels }), tuning },
  )
  return uses
}

const bytes = (length: number) => new Uint8Array(length)
const allgather = tuningFileOf({
  allgather: treeByBytes(
    'allgather',
    ['allgather-ring', 100],
    ['allgather-recursive-doubling', 1000],
    ['allgather-of-the-future'],
  ),
})

describe('a tuning file', () => {
  it('chooses by the bytes of a block, and is named as the reason with the leaf', async () => {
    const [use] = await usesOf(allgather, (world) => world.allgather(bytes(64)))
    expect(use).toMatchObject({ algorithm: 'allgather-ring', why: 'tuning file: bytes <= 100' })
    const [other] = await usesOf(allgather, (world) => world.allgather(bytes(500)))
    expect(other).toMatchObject({
      algorithm: 'allgather-recursive-doubling',
      why: 'tuning file: 100 < bytes <= 1000',
    })
  })

  it('counts less than the algorithm of a call, and more than the rule', async () => {
    const [named] = await usesOf(allgather, (world) =>
      world.allgather(bytes(64), { algorithm: 'allgather-linear' }),
    )
    expect(named).toMatchObject({ algorithm: 'allgather-linear', why: 'named by the call' })
    const [ruled] = await usesOf(null, (world) => world.allgather(bytes(64)))
    expect(ruled.why).toMatch(/^rule: /)
  })

  it('leaves segments that a call names to the call', async () => {
    const file = tuningFileOf({ bcast: treeByBytes('bcast', ['bcast-chain:fanout=2,segment=16']) })
    const [by] = await usesOf(file, (world) => world.bcast(bytes(160), 0))
    expect(by).toMatchObject({ algorithm: 'bcast-chain:fanout=2', segments: 10 })
    const [given] = await usesOf(file, (world) => world.bcast(bytes(160), 0, { segments: 3 }))
    expect(given).toMatchObject({ algorithm: 'bcast-chain:fanout=2', segments: 3 })
  })

  it('leaves collectives that it has no tree of to the rule', async () => {
    const [use] = await usesOf(allgather, (world) => world.alltoall(bytes(4)))
    expect(use).toMatchObject({ algorithm: 'alltoall-linear', why: 'rule: the only one of the rule' })
  })

  it('falls back to the rule where a setting cannot serve, and says why', async () => {
    const [odd] = await usesOf(allgather, (world) => world.allgather(bytes(500)), { ranks: 3 })
    expect(odd.algorithm).toBe('allgather-bruck')
    expect(odd.why).toMatch(
      /^rule: short blocks; not allgather-recursive-doubling of the tuning file \(100 < bytes <= 1000\): .*power of two/,
    )
    const [future] = await usesOf(allgather, (world) => world.allgather(bytes(2000)))
    expect(future.why).toMatch(
      /not allgather-of-the-future of the tuning file \(bytes > 1000\): this version does not know it/,
    )
  })

  it('falls back where a reduction demands an order that the algorithm does not have', async () => {
    const file = tuningFileOf({ allreduce: treeByBytes('allreduce', ['allreduce-ring']) })
    const floats = (world: World) => world.allreduce(Float64Array.of(0.1, world.rank), 'sum')
    const [tree] = await usesOf(file, floats)
    expect(tree).toMatchObject({ algorithm: 'allreduce-tree' })
    expect(tree.why).toMatch(/not allreduce-ring of the tuning file \(every call\): .*order: 'any'/)
    const [any] = await usesOf(file, (world) =>
      world.allreduce(Float64Array.of(0.1), 'sum', { order: 'any' }),
    )
    expect(any).toMatchObject({ algorithm: 'allreduce-ring', why: 'tuning file: every call' })
    const [exact] = await usesOf(file, (world) => world.allreduce(Int32Array.of(world.rank), 'sum'))
    expect(exact).toMatchObject({ algorithm: 'allreduce-ring' })
    const last = createOperation<Int32Array>((_, b) => b.slice(), { name: 'last' })
    const [ordered] = await usesOf(file, (world) => world.allreduce(Int32Array.of(world.rank), last))
    expect(ordered.algorithm).not.toBe('allreduce-ring')
  })

  it('decides short broadcasts by the rule where it cannot serve them, and says why', async () => {
    const file = tuningFileOf({ bcast: treeByBytes('bcast', ['bcast-of-the-future']) })
    const [use] = await usesOf(file, (world) => world.bcast(bytes(8), 0))
    expect(use.algorithm).toBeNull()
    expect(use.why).toMatch(/^short data travel with the head of the call; not bcast-of-the-future/)
  })

  it('leaves calls whose leaf has the setting default to the rule, and says so', async () => {
    const decisions = {
      bcast: treeByBytes('bcast', ['default']),
      alltoall: treeByBytes('alltoall', ['default']),
    }
    const file = tuningFileOf(decisions)
    const [short] = await usesOf(file, (world) => world.bcast(bytes(8), 0))
    expect(short).toMatchObject({
      algorithm: null,
      why: 'short data travel with the head of the call; the tuning file leaves it to the rule: every call',
    })
    const [other] = await usesOf(file, (world) => world.alltoall(bytes(4)))
    expect(other).toMatchObject({
      algorithm: 'alltoall-linear',
      why: 'rule: the only one of the rule; the tuning file leaves it to the rule: every call',
    })
  })

  it('counts nodes, processes per node, operations and the required order', async () => {
    const settings = ['ring', 'linear', 'tree', 'recursive-doubling'].map((name) =>
      settingFrom('allreduce', `allreduce-${name}`),
    )
    const leaf = (setting: number) => ({ kind: 'leaf', setting, cases: 1, errors: 0 }) as const
    const tree: DecisionTree = {
      settings,
      root: {
        kind: 'threshold',
        attribute: 'processesPerNode',
        atMost: 2,
        below: {
          kind: 'words',
          attribute: 'operation',
          branches: [{ word: 'max', node: leaf(0) }],
          otherwise: leaf(1),
        },
        above: {
          kind: 'words',
          attribute: 'order',
          branches: [{ word: 'any', node: leaf(3) }],
          otherwise: leaf(2),
        },
      },
    }
    const file = tuningFileOf({ allreduce: tree })
    const ints = (world: World) => world.allreduce(Int32Array.of(1), 'max')
    const [a] = await usesOf(file, ints, { ranks: 4, nodes: 2 })
    expect(a).toMatchObject({
      algorithm: 'allreduce-ring',
      why: 'tuning file: processesPerNode <= 2, operation = max',
    })
    const [b] = await usesOf(file, (world) => world.allreduce(Int32Array.of(1), 'sum'), {
      ranks: 4,
      nodes: 2,
    })
    expect(b).toMatchObject({
      algorithm: 'allreduce-linear',
      why: 'tuning file: processesPerNode <= 2, operation = another',
    })
    const [c] = await usesOf(file, ints, { ranks: 4, nodes: 1 })
    expect(c).toMatchObject({ algorithm: 'allreduce-recursive-doubling' })
    // Three processes on one node and two on another.
    const [uneven] = await usesOf(file, ints, { ranks: 5, nodes: 2 })
    expect(uneven).toMatchObject({ algorithm: 'allreduce-recursive-doubling' })
    const [d] = await usesOf(file, (world) => world.allreduce(Float64Array.of(1), 'sum'), { ranks: 4 })
    expect(d).toMatchObject({
      algorithm: 'allreduce-tree',
      why: 'tuning file: processesPerNode > 2, order = another',
    })
  })

  it('is used by communicators that are split off, by their own processes', async () => {
    const settings = [
      settingFrom('allgather', 'allgather-ring'),
      settingFrom('allgather', 'allgather-two-proc'),
    ]
    const leaf = (setting: number) => ({ kind: 'leaf', setting, cases: 1, errors: 0 }) as const
    const root = {
      kind: 'threshold',
      attribute: 'processes',
      atMost: 2,
      below: leaf(1),
      above: leaf(0),
    } as const
    const file = tuningFileOf({ allgather: { settings, root } })
    const [uses] = await run(
      async (world) => {
        const pair = await world.split(Math.floor(world.rank / 2), world.rank)
        await pair.allgather(bytes(1))
        await world.allgather(bytes(1))
        return [pair, world].map((comm) => comm.describe().collectives.map(({ algorithm }) => algorithm))
      },
      { ranks: 4, processes: 4, tuning: file },
    )
    expect(uses[0]).toContain('allgather-two-proc')
    expect(uses[1]).toContain('allgather-ring')
  })
})

describe('where only the root knows the size', () => {
  it('the process of the root decides, with parameters, and the others follow', async () => {
    const file = tuningFileOf({
      bcast: treeByBytes('bcast', ['bcast-knomial:radix=3', 100], ['bcast-chain:fanout=3,segment=32']),
    })
    for (const [length, id, segments] of [
      [64, 'bcast-knomial:radix=3', 1],
      [320, 'bcast-chain:fanout=3', 10],
    ] as const) {
      const all = await run(
        async (world) => {
          const got = await world.bcast(world.rank === 2 ? bytes(length).fill(7) : null, 2)
          expect(got).toEqual(bytes(length).fill(7))
          return world.describe().collectives
        },
        { ranks: 5, processes: 5, tuning: file },
      )
      expect(all.map(([use]) => [use.algorithm, use.segments])).toEqual(Array(5).fill([id, segments]))
      expect(all[2][0].why).toMatch(/^tuning file: /)
      expect(all[0][0].why).toBe('chosen by the root')
    }
  })

  it.each([
    [null, 7],
    ['default', 7],
    // A head for each of the others, then the data.
    ['bcast-linear', 14],
    ['bcast-chain', 14],
  ])('a short bcast of 8 processes by %s takes %d messages', async (line, messages) => {
    const sent = await run(
      async (world) => {
        const { counters } = world.seat().state.runtime.fabric
        const before = counters.framesSent
        await world.bcast(world.rank === 0 ? bytes(64) : null)
        return counters.framesSent - before
      },
      {
        ...{ ranks: 8, processes: 8 },
        tuning: line === null ? null : tuningFileOf({ bcast: treeByBytes('bcast', [line]) }),
      },
    )
    expect(sent.reduce((a, b) => a + b, 0)).toBe(messages)
  })
})

describe('results by an odd tuning file', () => {
  const file = oddTuning()
  it.each([
    [1, 1],
    [3, 2],
    [4, 4],
    [7, 7],
  ])('of %d ranks on %d processes are those of the oracles', async (ranks, processes) => {
    const uses = await run(
      async (world) => {
        let slot = 1
        for (const { name, check } of checkedCollectives)
          for (const length of [0, 1, 3, 40, 700])
            await check(world, slot++, length).catch((cause: unknown) => {
              throw new Error(`${name} of ${length}`, { cause })
            })
        return world.describe().collectives
      },
      { ranks, processes, tuning: file },
    )
    const byFile = uses[0].filter(({ why }) => why.startsWith('tuning file: '))
    expect(byFile.length).toBeGreaterThan(processes === 1 ? 0 : 8)
  })

  it('every algorithm of the library is chosen at some size', () => {
    for (const { collective, id } of algorithms) {
      const { settings } = file.decisions[collective]!
      expect(settings.map(({ algorithm }) => algorithm)).toContain(id)
    }
  })
})
