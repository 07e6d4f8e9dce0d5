import { type NeighborSchedule, opKind, type Strategy } from 'rankweave/schedule'
import { inNeighbors, mooreTopology, outNeighbors } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import type { RankweaveError } from '../../src/errors.js'
import type { PlanOfRanks } from '../../src/neighborhood/plan/plan-of-ranks.js'
import { planFromNeighbors, provePlan } from '../../src/topology-communicator/distributed/distributed-plan.js'
import { type FrameFault, memoryExchanges } from '../support/memory-exchange.js'

const topology = mooreTopology({ dims: [4, 6], radius: 1 })
const processes = 4
const perProcess = topology.ranks / processes
const processOf = (rank: number) => Math.floor(rank / perProcess)
const hosts = { find: processOf, learn: async () => {}, believe: () => {} }
const where = {
  ranks: topology.ranks,
  nodeOf: () => 0,
  nodesOfAll: async () => new Int32Array(topology.ranks),
  hosts,
}
const combining: Strategy = { kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: 1 }

function listsOf(process: number) {
  const localRanks = Int32Array.from({ length: perProcess }, (_, i) => process * perProcess + i)
  const hosted = Array.from(localRanks, (rank) => ({
    sources: inNeighbors(topology, rank),
    destinations: outNeighbors(topology, rank),
  }))
  return { localRanks, hosted }
}

async function plans(): Promise<PlanOfRanks[]> {
  return Promise.all(
    memoryExchanges(processes).map((exchange) =>
      planFromNeighbors(exchange, listsOf(exchange.me), combining, where),
    ),
  )
}

/** Proves plans on all processes; the messages of their errors. */
async function proofs(parts: readonly PlanOfRanks[]): Promise<(string | null)[]> {
  return Promise.all(
    memoryExchanges(processes).map((exchange) =>
      provePlan(exchange, parts[exchange.me], processOf).then(
        () => null,
        ({ code, message }: RankweaveError) => `${code}: ${message}`,
      ),
    ),
  )
}

type Writable = { -readonly [K in keyof NeighborSchedule]: NeighborSchedule[K] }

/**
 * The parts with a change to the schedule of one, at its first operation of a kind that another process
 * shares.
 */
async function changed(kind: number, change: (schedule: Writable, op: number, part: PlanOfRanks) => void) {
  const parts = await plans()
  const part = parts[1]
  const schedule = structuredClone(part.schedule) as Writable
  const isOut = (op: number) => processOf(part.rankOf[schedule.opPeer[op]]) !== 1
  const op = Array.from(schedule.opKind.keys()).find((i) => schedule.opKind[i] === kind && isOut(i))!
  change(schedule, op, part)
  return parts.map((other, process) => (process === 1 ? { ...other, schedule } : other))
}

const retag = (schedule: Writable, op: number): void => {
  schedule.opTag[op] = 9
}

describe('the proof of a distributed plan', () => {
  it('succeeds for parts that fit together', async () => {
    expect(await proofs(await plans())).toEqual([null, null, null, null])
  })

  it('processes that plan by different versions of a strategy all get ERR_PLAN_MISMATCH, naming two of them', async () => {
    const direct: Strategy = { kind: 'direct' }
    const parts = await plans()
    const others = await Promise.all(
      memoryExchanges(processes).map((exchange) =>
        planFromNeighbors(exchange, listsOf(exchange.me), direct, where),
      ),
    )
    const found = await proofs(parts.map((part, process) => (process === 2 ? others[2] : part)))
    expect(found[0]).toMatch(
      /^ERR_PLAN_MISMATCH: the plans of processes \d and \d do not fit together: process/,
    )
    expect(new Set(found).size).toBe(1)
  })

  it.each([
    ['the tag of a send', opKind.send],
    ['the tag of a receive', opKind.receive],
  ] as const)('%s that differs from the other end is found before anything is sent', async (_, kind) => {
    const found = await proofs(await changed(kind, retag))
    expect(found[0]).toMatch(/^ERR_PLAN_MISMATCH: .* messages with other blocks, tags or phases/)
    expect(new Set(found).size).toBe(1)
  })

  it('a part that does not verify by itself fails all processes with its violation', async () => {
    const parts = await changed(opKind.receive, (schedule, op) => {
      schedule.entryTo[schedule.entryStart[op]] = 0
    })
    const found = await proofs(parts)
    expect(found[0]).toMatch(/^ERR_SCHEDULE: the plan does not verify: /)
    expect(new Set(found).size).toBe(1)
  })
})

describe('single faults of frames while planning', () => {
  it.each(['lose', 'repeat', 'overtake', 'alter'] as const)(
    '%s: every process ends, none with a plan that differs',
    async (kind) => {
      const expected = (await plans()).map(({ schedule }) => JSON.stringify(schedule.opPeer))
      const codes = new Set<string>()
      for (let hit = 0; hit < 60; hit += 3) {
        let late: { readonly bytes: Uint8Array; readonly src: number; readonly dst: number } | undefined
        const fault: FrameFault = (src, dst, n, bytes) => {
          if (late?.src === src && late.dst === dst) {
            const overtaken = late.bytes
            late = undefined
            return [bytes, overtaken]
          }
          if (n !== hit) return [bytes]
          if (kind === 'lose') return []
          if (kind === 'repeat') return [bytes, bytes]
          if (kind === 'overtake') {
            late = { bytes, src, dst }
            return []
          }
          if (bytes.length > 0) bytes[Math.min(bytes.length - 1, 8 + (hit % 24))] ^= 2
          return [bytes]
        }
        const settled = await Promise.allSettled(
          memoryExchanges(processes, fault).map((exchange) =>
            planFromNeighbors(exchange, listsOf(exchange.me), combining, where),
          ),
        )
        for (const [process, outcome] of settled.entries()) {
          if (outcome.status === 'fulfilled') {
            expect(JSON.stringify(outcome.value.schedule.opPeer)).toBe(expected[process])
          } else codes.add((outcome.reason as RankweaveError).code ?? outcome.reason.message)
        }
      }
      expect([...codes].filter((code) => code !== 'stuck' && code !== 'ERR_PLAN_MISMATCH')).toEqual([])
      expect(codes.has(kind === 'lose' ? 'stuck' : 'ERR_PLAN_MISMATCH')).toBe(true)
    },
  )
})
