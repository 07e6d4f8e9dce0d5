// Memory that splits leave behind, in its own process: `account RANKS PROCESSES SORTERS COLORS` the
// bytes that each process accounts for, on logical processes, after a barrier, a bcast and an allreduce on
// every communicator; `measured ALGORITHM TABLE RANKS PROCESSES COLORS` the growth of heap and array buffers
// beside the account. Colors and keys are random, 5% of the ranks have none.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { RetainedBytes } from '../../src/comm/describe.js'
import type { SplitOptions } from '../../src/comm/split/split-plan.js'
import type { Communicator } from '../../src/handles/communicator.js'
import { run } from '../../src/launch/run.js'

/** What the process that retains most accounts for, per communicator that it is in. */
export type Account = Record<keyof RetainedBytes, number>

export interface Accounts {
  readonly distributed: Account
  readonly replicated: Account
}

export interface Measured {
  /**
   * Bytes per process that the arrays of the account take, and by which the heap and the array buffers grew.
   */
  readonly account: number
  readonly heap: number
  readonly arrayBuffers: number
  readonly communicators: number
}

/** 32 bits that look random. */
function mixed(value: number, seed: number): number {
  let hash = Math.imul(value ^ seed, 0x9e3779b1)
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

const colorOf = (rank: number, colors: number) => (mixed(rank, 1) % 20 === 0 ? null : mixed(rank, 2) % colors)
const keyOf = (rank: number) => mixed(rank, 3) | 0

async function used(part: Communicator | null): Promise<void> {
  if (part === null) return
  await part.barrier()
  await part.bcast(part.rank === part.size - 1 ? Int32Array.of(1) : null, part.size - 1)
  await part.allreduce(1, 'sum')
}

/** Per process: the sum over its communicators, of which the table that they share is a part once. */
function accountsOf(parts: readonly (Communicator | null)[]): { sum: Account; communicators: number }[] {
  const found = new Map<number, { sum: Account; communicators: number }>()
  for (const part of parts) {
    if (part === null || part.seat().localIndex > 0) continue
    const { retained } = part.describe()
    const { process } = part.seat().state.runtime
    const known = found.get(process)
    if (known === undefined) found.set(process, { sum: { ...retained }, communicators: 1 })
    else {
      const { sum } = known
      known.communicators++
      for (const name of Object.keys(sum) as (keyof Account)[]) sum[name] += retained[name]
      sum.total -= retained.sharedTable
      sum.sharedTable -= retained.sharedTable
    }
  }
  return [...found.values()]
}

/** Of the process that retains most per communicator. */
function largest(parts: readonly (Communicator | null)[]): Account {
  const means = accountsOf(parts).map(({ sum, communicators }) => {
    const mean = Object.entries(sum).map(([name, bytes]) => [name, Math.round(bytes / communicators)])
    return Object.fromEntries(mean) as Account
  })
  return means.reduce((most, each) => (each.total > most.total ? each : most))
}

async function accounts(
  ranks: number,
  processes: number,
  sorters: number,
  colors: number,
): Promise<Accounts> {
  const found: Partial<Record<keyof Accounts, Account>> = {}
  for (const table of ['distributed', 'replicated'] as const) {
    const parts: (Communicator | null)[] = new Array(ranks).fill(null)
    await run(
      async (world) => {
        const options: SplitOptions = { algorithm: 'parallel-sort', table, sorters }
        const part = await world.split(colorOf(world.rank, colors), keyOf(world.rank), options)
        await used(part)
        parts[world.rank] = part
        await world.barrier()
        if (world.rank === 0) found[table] = largest(parts)
      },
      { ranks, processes },
    )
  }
  return found as Accounts
}

const words = process.argv.slice(3)
if (process.argv[2] === 'account') {
  const [ranks, processes, sorters, colors] = words.map(Number) as [number, number, number, number]
  console.log(JSON.stringify(await accounts(ranks, processes, sorters, colors)))
} else if (process.argv[2] === 'measured') {
  const [algorithm, table, ...numbers] = words
  const [ranks, processes, colors] = numbers.map(Number) as [number, number, number]
  const options = { algorithm, table } as SplitOptions
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const inUse = async () => {
    await new Promise((resolve) => setTimeout(resolve, 100))
    collectGarbage()
    collectGarbage()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return { heapUsed, arrayBuffers }
  }
  let grown: Measured | undefined
  const parts: (Communicator | null)[] = new Array(ranks).fill(null)
  await run(
    async (world) => {
      // One split before, so that code and what a world makes once are there. Memory is compared while all
      // other ranks wait.
      await (await world.split(0, 0)).free()
      await world.barrier()
      const before = world.rank === 0 ? await inUse() : undefined
      await world.barrier()
      parts[world.rank] = await world.split(colorOf(world.rank, colors), keyOf(world.rank), options)
      await world.barrier()
      if (before !== undefined) {
        const after = await inUse()
        grown = {
          account: accountsOf(parts).reduce((all, { sum }) => all + sum.total, 0) / processes,
          heap: (after.heapUsed - before.heapUsed) / processes,
          arrayBuffers: (after.arrayBuffers - before.arrayBuffers) / processes,
          communicators: colors,
        }
      }
      await world.barrier()
    },
    { ranks, processes },
  )
  console.log(JSON.stringify(grown))
}
