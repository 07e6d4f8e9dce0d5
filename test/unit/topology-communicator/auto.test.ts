import { type Communicator, local, run } from 'rankweave'
import { mooreTopology, topologyFromEdges } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import { simgridFast, simgridSlow } from '../../../src/machine/built-in-profiles.js'
import { cluster } from '../../../src/machine/machine.js'
import { chooseStrategy } from '../../../src/neighborhood/choose/choose-strategy.js'
import { coded, onRanks } from '../../support/on-ranks.js'

const topology = mooreTopology({ dims: [6, 4], radius: 1 })
const machine = cluster({ nodes: 6, cores: 4, profile: simgridSlow })
const strategy = { kind: 'auto', budget: 2 } as const
const world = { ranks: 24, fabric: local({ processes: 5, seed: 3 }) }

describe('strategy auto', () => {
  it('has a strategy per class of block lengths, that of chooseStrategy', () =>
    run(async (comm) => {
      const graph = await comm.createTopology(topology, { strategy, machine })
      for (const length of [1, 600]) {
        const got = await graph.neighborAllgather(new Int32Array(length).fill(graph.rank))
        expect([...got].filter((_, i) => i % length === 0)).toEqual([...graph.sources])
      }
      if (graph.rank !== 7) return
      const { budget } = strategy
      for (const [bytes, chosenFor] of [
        [2400, 2048],
        [0, 0],
      ]) {
        const expected = chooseStrategy(topology, machine, { bytes: chosenFor, budget })
        const choice = graph.choice({ bytes: bytes })!
        expect(choice.bytes).toBe(chosenFor)
        expect(choice.strategy).toEqual(expected.strategy)
        expect((await graph.plan({ bytes: bytes })).schedule.strategy).toBe(expected.strategy.kind)
      }
    }, world))

  it('chooses blocks that vary, and plan lines, for a length known to all', () =>
    run(async (comm) => {
      const graph = await comm.createTopology(topology, { strategy: { ...strategy, bytes: 64 }, machine })
      const { data } = await graph.neighborAllgatherv(new Int32Array(graph.rank % 3).fill(graph.rank))
      expect([...data]).toEqual([...graph.sources].flatMap((source) => Array(source % 3).fill(source)))
      expect(graph.choice()!.bytes).toBe(64)
      expect(graph.choice({ bytes: 4096 })!.bytes).toBe(64)
      const lines = await graph.planLines(1)
      if (graph.rank === 1) expect(lines![0]).toContain(graph.choice()!.strategy.kind)
    }, world))

  it('chooses for alltoalls by their own blocks, and for reductions by what is combined on its way', () =>
    run(async (comm) => {
      const graph = await comm.createTopology(topology, { strategy, machine })
      const sent = (count: number) =>
        Int32Array.from(
          [...graph.destinations].flatMap((to) => new Array<number>(count).fill(100 * graph.rank + to)),
        )
      for (const count of [1, 600]) {
        const got = await graph.neighborAlltoall(sent(count))
        const expected = [...graph.sources].map((from) => 100 * from + graph.rank)
        expect([...got].filter((_, i) => i % count === 0)).toEqual(expected)
      }
      const sum = await graph.neighborReduce(Int32Array.of(graph.rank), 'sum')
      expect([...sum!]).toEqual([graph.sources.reduce((total, from) => total + from, 0)])
      if (graph.rank !== 7) return
      const { budget } = strategy
      for (const operation of ['neighbor-alltoall', 'neighbor-reduce-any'] as const) {
        for (const bytes of [4, 2048]) {
          const expected = chooseStrategy(topology, machine, { bytes, budget, operation })
          expect(graph.choice({ bytes, operation })).toMatchObject({
            operation,
            bytes,
            strategy: expected.strategy,
          })
        }
      }
    }, world))

  it('sends no more messages in an alltoall than the strategy chosen, and blocks that vary directly', () =>
    onRanks({ ranks: 24, fabric: local({ processes: 1 }) }, async (comm) => {
      const graph = await comm.createTopology(topology, { strategy, machine })
      const { traffic } = graph
      await graph.neighborAlltoall(Int32Array.from(graph.destinations))
      const { chosen } = graph.choice({ bytes: 4, operation: 'neighbor-alltoall' })!
      expect(chosen.strategy).not.toBe('direct')
      expect(traffic.messagesInProcess).toBe(chosen.messages)
      const counts = graph.destinations.map(() => 1)
      await graph.neighborAlltoallv(Int32Array.from(graph.destinations), counts)
      expect(traffic.messagesInProcess).toBe(chosen.messages + 24 * 8)
      // With a length to choose for, all ranks know it.
      const fixed = await comm.createTopology(topology, { strategy: { ...strategy, bytes: 4 }, machine })
      await fixed.neighborAlltoallv(Int32Array.from(graph.destinations), counts)
      await fixed.neighborAlltoallw([...graph.destinations].map((to) => Int16Array.of(to)))
      expect(fixed.traffic.messagesInProcess).toBe(2 * chosen.messages)
    }))

  it('sends equal blocks directly where a rank without destinations does not know their length', () =>
    onRanks({ ranks: 24, fabric: local({ processes: 1 }) }, async (comm) => {
      const sources = Array.from({ length: 23 * 8 }, (_, edge) => Math.floor(edge / 8))
      const destinations = sources.map((from, edge) => (from + 1 + (edge % 8)) % 24)
      const graph = await comm.createTopology(topologyFromEdges(24, { sources, destinations }), {
        strategy,
        machine,
      })
      await graph.neighborAlltoall(new Int32Array(graph.destinations.length))
      expect(graph.traffic.messagesInProcess).toBe(23 * 8)
    }))

  it('refuses blocks of other lengths on other ranks where it chooses by length', async () => {
    const main = async (comm: Communicator) => {
      const graph = await comm.createTopology(topology, { strategy, machine })
      await graph.neighborAlltoall(new Int32Array(graph.destinations.length * (comm.rank === 5 ? 2 : 1)))
    }
    await expect(run(main, world)).rejects.toMatchObject({ code: 'ERR_COLLECTIVE_MISMATCH' })
  })

  it('is the default with a profile only', () =>
    run(async (comm) => {
      const chosen = await comm.createTopology(topology, { machine })
      expect(chosen.choice({ bytes: 4 })!.alternatives.length).toBeGreaterThan(1)
      const plain = cluster({ nodes: 6, cores: 4 })
      expect((await comm.createTopology(topology, { machine: plain })).choice()).toBeNull()
      expect((await comm.createTopology(topology)).choice()).toBeNull()
    }, world))

  it.each([
    [{ strategy }, 'ERR_MACHINE'],
    [{ strategy, machine: cluster({ nodes: 6, cores: 4 }) }, 'ERR_MACHINE'],
    [{ strategy, machine: cluster({ nodes: 1, cores: 4, profile: simgridFast }) }, 'ERR_MACHINE'],
    [{ strategy: { ...strategy, budget: 0 }, machine }, 'ERR_STRATEGY'],
    [{ strategy: { ...strategy, bytes: -4 }, machine }, 'ERR_STRATEGY'],
    [{ strategy: { ...strategy, byte: 4 }, machine }, 'ERR_STRATEGY'],
  ])('refuses bad input before anything is sent, case %#', async (options, code) => {
    await run(async (comm) => {
      await expect(comm.createTopology(topology, options)).rejects.toMatchObject({ code })
      const lists = { sources: [], destinations: [], ...options }
      await expect(comm.createDistGraphAdjacent(lists)).rejects.toMatchObject({ code })
    }, world)
  })

  it('refuses lengths that are none', () =>
    run(async (comm) => {
      const graph = await comm.createTopology(topology, { strategy, machine })
      expect(() => graph.choice({ bytes: -1 })).toThrow(coded('ERR_ARGUMENT'))
      expect(() => graph.choice({ operation: 'bcast' as never })).toThrow(coded('ERR_ARGUMENT'))
      expect(() => graph.choice(null as never)).toThrow(coded('ERR_ARGUMENT'))
      await expect(graph.plan(null as never)).rejects.toMatchObject({ code: 'ERR_ARGUMENT' })
      await expect(graph.plan({ bytes: 0.5 })).rejects.toMatchObject({ code: 'ERR_ARGUMENT' })
    }, world))

  it('refuses other costs on other ranks', async () => {
    const main = async (comm: Communicator) => {
      const profile = { ...simgridSlow, eagerLimitBytes: 100 + comm.rank }
      await comm.createTopology(topology, { strategy, machine: cluster({ nodes: 6, cores: 4, profile }) })
    }
    await expect(run(main, world)).rejects.toMatchObject({ code: 'ERR_COLLECTIVE_MISMATCH' })
  })
})
