import { type Communicator, isRankweaveError, local } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../../src/base/random.js'
import { hostSession } from '../../../../src/world/world.js'
import { cases } from '../../../support/soak.js'

/** What a rank saw of one round: the call of its last error, and what the survivors agreed on. */
interface Round {
  readonly flag: number | string
  readonly members: readonly number[]
}

const codeOf = (error: unknown) => {
  if (isRankweaveError(error, 'ERR_PEER_LOST') || isRankweaveError(error, 'ERR_REVOKED')) return error.code
  throw error
}

/**
 * Collectives and messages of several kinds, round by round on the communicator of the survivors, until a
 * round works everywhere three times. The rank's own view of every agreement is returned, to be compared.
 */
async function program(world: Communicator, isSplit: boolean): Promise<Round[]> {
  const rounds: Round[] = []
  let comm = world
  if (isSplit) {
    // Distributed rank table, ranks in an order of their own.
    const made = await attempt(() => world.split(0, (world.rank * 7) % world.size, { table: 'distributed' }))
    const agreed = await world.agree(made === undefined ? 0 : 1).catch(codeOf)
    if (agreed === 1) comm = made!
    else await world.revoke()
  }
  for (let worked = 0; worked < 3; ) {
    const ok = await attempt(async () => {
      await comm.barrier()
      const next = (comm.rank + 1) % comm.size
      const before = (comm.rank + comm.size - 1) % comm.size
      const { data } = await comm.sendrecv(Int32Array.of(comm.rank), next, before)
      const sum = await comm.allreduce(Int32Array.of((data as Int32Array)[0]), 'sum')
      const all = await comm.allgather(Int32Array.of(world.rank))
      expect(sum[0]).toBe((comm.size * (comm.size - 1)) / 2)
      return [...all]
    })
    if (ok === undefined) await comm.revoke()
    const flag = await comm.agree(ok === undefined ? 0 : 1).catch(codeOf)
    if (flag === 1) {
      worked++
      rounds.push({ flag, members: ok! })
      continue
    }
    await comm.revoke()
    comm = await comm.shrink()
    rounds.push({ flag, members: [-1, comm.size] })
  }
  return rounds
}

async function attempt<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run()
  } catch (error) {
    codeOf(error)
    return undefined
  }
}

async function check(seed: number): Promise<void> {
  const random = seededRandom(seed)
  const below = (n: number) => Math.floor(random() * n)
  const processes = 2 + below(5)
  const ranks = processes + below(2 * processes)
  const victims = new Set(Array.from({ length: 1 + below(processes - 1) }, () => below(processes)))
  const kill = [...victims].map((process) => ({ process, afterFrames: below(80) }))
  const session = await local({
    processes,
    seed,
    maxPayloadBytes: below(2) === 0 ? 64 : 2 ** 20,
    faults: { kill, delay: below(3) },
  }).open()
  const results = await hostSession<Round[], undefined>(session, (world) => program(world, seed % 3 === 0), {
    ranks,
    eagerLimitBytes: below(2) === 0 ? 0 : 65_536,
  })
  const seen = results.filter((result) => result !== undefined)
  expect(seen.length).toBeGreaterThan(0)
  for (const rounds of seen) expect(rounds).toEqual(seen[0])
}

describe('survivors of processes killed at random frames', () => {
  it('never hang, and agree on everything', async () => {
    for (let seed = 1; seed <= cases(60, 12); seed++) {
      try {
        await check(seed)
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error })
      }
    }
  })
})
