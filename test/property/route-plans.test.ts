import fc from 'fast-check'
import { formatSchedule, parseStrategy, type Strategy, verify } from 'rankweave/schedule'
import { expect, it } from 'vitest'
import { mulberry32, seededRandom } from '../../src/base/random.js'
import { indexIn } from '../../src/base/search.js'
import { routeOf } from '../../src/neighborhood/plan/plan.js'
import { type PlanOfRanks, planInRanks } from '../../src/neighborhood/plan/plan-of-ranks.js'
import { routeSchedule } from '../../src/neighborhood/strategies/route-schedule.js'
import { strategyKind } from '../../src/neighborhood/strategies/strategies.js'
import type { Route } from '../../src/neighborhood/strategies/strategy-kind.js'
import { rankLine } from '../../src/schedule/file/format-schedule.js'
import { inNeighbors, outNeighbors } from '../../src/topology/neighbors.js'
import { routeFacts } from '../../src/topology-communicator/distributed/distributed-plan.js'
import type { RankHosts } from '../../src/topology-communicator/distributed/hosted-lists.js'
import { planOfRoute } from '../../src/topology-communicator/distributed/route-plan.js'
import { memoryExchanges } from '../support/memory-exchange.js'
import { cases } from '../support/soak.js'
import { nodesFor, smallTopologies } from './random-topology.js'

const seed = fc.integer({ min: 0, max: 2 ** 31 - 1 })

/** Ways drawn at random: they rest, return to ranks that they have left, and meet again. */
function randomRoute(ranks: number, hops: number, from: number): Route {
  return {
    hops,
    hop(h, source, destination) {
      if (h === hops - 1) return destination
      const draw = mulberry32((((from * 31 + h) * 31 + source) * 31 + destination) | 0)
      return draw() % 4 === 0 ? source : draw() % Math.min(ranks, 5)
    },
  }
}

const anyCase = smallTopologies(17).chain(({ what, topology }) =>
  fc.record({
    what: fc.constant(what),
    topology: fc.constant(topology),
    route: fc.oneof(
      fc.record({ hops: fc.integer({ min: 1, max: 5 }), drawnFrom: seed }),
      fc.record({ radices: fc.constantFrom([2, 2, 2, 2, 2, 2, 2, 2], [3, 3, 3, 3, 3], [13, 13], [60, 3]) }),
      fc.record({
        text: fc.constantFrom('hierarchical', 'pipelined', 'pipelined:steps=1.2', 'lanes', 'lanes:lanes=1'),
        nodeOf: nodesFor(topology.ranks),
      }),
    ),
    first: fc.constantFrom('lowest' as const, 'highest' as const),
    processes: fc.integer({ min: 1, max: 6 }),
    placed: seed,
  }),
)

it('the parts that processes plan are those of the plan of the whole topology, and know where their ranks are', async () => {
  await fc.assert(
    fc.asyncProperty(anyCase, async ({ topology, route: drawn, first, processes, placed }) => {
      const { ranks } = topology
      const strategy: Strategy =
        'text' in drawn
          ? parseStrategy(drawn.text)
          : { kind: 'routed', radices: 'radices' in drawn ? drawn.radices : [], first }
      const nodeOf = 'text' in drawn ? drawn.nodeOf : new Int32Array(ranks)
      const route =
        'hops' in drawn
          ? randomRoute(ranks, drawn.hops, drawn.drawnFrom)
          : routeOf(topology, strategy, { nodeOf })
      const header = { strategy: 'any', parameters: {} }
      const whole = routeSchedule(topology, route, header)
      expect(verify(whole).violations).toEqual([])
      const lines = [...formatSchedule(whole)].slice(1)
      const random = seededRandom(placed)
      const processOf = Int32Array.from({ length: ranks }, () => Math.floor(random() * processes))
      const looked: Set<number>[] = []
      const parts = await Promise.all(
        memoryExchanges(processes).map(async (exchange) => {
          const all = Int32Array.from({ length: ranks }, (_, rank) => rank)
          const localRanks = all.filter((rank) => processOf[rank] === exchange.me)
          const known = new Set(localRanks)
          looked[exchange.me] = known
          const hosts: RankHosts = {
            find: (rank) => (known.has(rank) ? processOf[rank] : undefined),
            async learn(learned) {
              for (const rank of learned) known.add(rank)
            },
            believe(rank, process) {
              expect(process).toBe(processOf[rank])
              known.add(rank)
            },
          }
          const hosted = Array.from(localRanks, (rank) => ({
            sources: inNeighbors(topology, rank),
            destinations: outNeighbors(topology, rank),
          }))
          const lists = { localRanks, hosted }
          const kind = strategyKind(strategy)
          const where = {
            ranks,
            hosts,
            nodeOf: (rank: number) => nodeOf[rank],
            nodesOfAll: async () => nodeOf,
          }
          const facts = await routeFacts(exchange, lists, kind.routeNeeds, where)
          const ownRoute = () => ('hops' in drawn ? route : kind.route(strategy, facts))
          return planOfRoute(exchange, lists, ownRoute, header, where)
        }),
      )
      for (const [process, part] of parts.entries()) {
        if (part instanceof Error) throw part
        expect(part.schedule.phases).toBe(whole.phases)
        expectKnown(part, looked[process])
        const { schedule } = planInRanks(part as PlanOfRanks)
        for (const number of part.own) {
          const rank = part.rankOf[number]
          expect(rankLine(schedule, rank, 2)).toBe(lines[rank])
        }
      }
    }),
    { numRuns: cases(400, 40) },
  )
})

/** What its schedule names, except neighbors that it has no messages with, needs no look-up later. */
function expectKnown({ schedule, rankOf, own }: PlanOfRanks, known: ReadonlySet<number>): void {
  for (const peer of schedule.opPeer) if (peer >= 0) expect(known.has(rankOf[peer])).toBe(true)
  for (const block of schedule.entryBlock) expect(known.has(rankOf[block])).toBe(true)
  for (const number of own) expect(indexIn(rankOf, rankOf[number])).toBe(number)
}
