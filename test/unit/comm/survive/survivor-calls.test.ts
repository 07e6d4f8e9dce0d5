import { ANY_SOURCE, type Communicator, isRankweaveError } from 'rankweave'
import { describe, expect, it } from 'vitest'
import type { Fabric } from '../../../../src/fabric/fabric.js'
import { type LocalOptions, type LocalSession, local } from '../../../../src/fabric/local/local.js'
import { hostSession } from '../../../../src/world/world.js'
import { codeOf } from '../../../support/on-ranks.js'

type Main<T> = (world: Communicator, kill: (process: number) => void) => Promise<T>

async function withKills<T>(options: LocalOptions, ranks: number, main: Main<T>): Promise<T[]> {
  const session = await local(options).open()
  return hosted(session, ranks, main)
}

const hosted = <T>(session: LocalSession, ranks: number, main: Main<T>): Promise<T[]> =>
  hostSession<T, undefined>(session, (world) => main(world, (process) => session.kill(process)), { ranks })

interface Caught {
  readonly code: string
  readonly message?: string
  readonly details?: Readonly<Record<string, unknown>>
}

const caught = (promise: Promise<unknown>): Promise<Caught> =>
  promise.then(
    (value) => ({ code: `ok: ${String(value)}` }),
    (error) => {
      if (isRankweaveError(error)) return error
      throw error
    },
  )

/** Of 8 ranks on 4 processes, those that live wait until process 1 is lost. */
async function lose1(world: Communicator, kill: (process: number) => void): Promise<void> {
  // Others may still be in the barrier when the process is killed.
  await caught(world.barrier())
  if (world.rank === 0) kill(1)
  await caught(world.recv(3, 99))
}

describe('survivors', () => {
  it('revoke, shrink and continue, and the world ends well', async () => {
    const results = await withKills({ processes: 4 }, 8, async (world, kill) => {
      await world.barrier()
      if (world.rank === 0) kill(1)
      // Most wait for a lost rank; rank 7 waits for one that gives up, and only `revoke` reaches it.
      const met = await codeOf(world.recv(world.rank === 7 ? 0 : 3, 5))
      await world.revoke()
      const failed = await world.failed()
      const rest = await world.shrink()
      const sum = await rest.allreduce(Float64Array.of(world.rank), 'sum')
      await rest.free()
      return { met, failed: [...failed], rank: rest.rank, size: rest.size, sum: sum[0] }
    })
    expect(results.map((result) => result?.rank)).toEqual([0, 1, undefined, undefined, 2, 3, 4, 5])
    for (const [rank, result] of results.entries()) {
      if (result === undefined) continue
      if (rank === 7) expect(result.met).toBe('ERR_REVOKED')
      else expect(['ERR_PEER_LOST', 'ERR_REVOKED']).toContain(result.met)
      expect(result).toMatchObject({ failed: [2, 3], size: 6, sum: 0 + 1 + 4 + 5 + 6 + 7 })
    }
  })
})

describe('agree', () => {
  it('is the AND of all flags, and needs no loss', async () => {
    const flags = await withKills({ processes: 3 }, 6, (world) => world.agree(~(1 << world.rank)))
    expect(flags).toEqual(new Array(6).fill(-64))
  })

  it('rejects everywhere alike, with the flag, until every rank has acknowledged the loss', async () => {
    const results = await withKills({ processes: 4 }, 8, async (world, kill) => {
      await lose1(world, kill)
      if (world.rank !== 5) await world.ackFailed()
      const first = await caught(world.agree(world.rank === 7 ? 12 : 6))
      await world.ackFailed()
      const second = await caught(world.agree(world.rank === 7 ? 12 : 6))
      return { code: first.code, text: first.message, flag: first.details?.['flag'], second: second.code }
    })
    const living = results.filter((result) => result !== undefined)
    expect(living).toHaveLength(6)
    for (const result of living) {
      expect(result).toMatchObject({ code: 'ERR_PEER_LOST', flag: 4, second: 'ok: 4' })
      expect(result.text).toContain('process 1 with world ranks 2-3 is lost')
    }
  })

  it('where others shrink is ERR_COLLECTIVE_MISMATCH for all', async () => {
    const codes = await withKills({ processes: 2 }, 4, async (world) => {
      const { code } = await caught(world.rank === 3 ? world.shrink() : world.agree(1))
      return code
    })
    expect(codes).toEqual(new Array(4).fill('ERR_COLLECTIVE_MISMATCH'))
  })

  it('takes flags of 32 bits', async () => {
    const codes = await withKills({}, 1, async (world) => {
      const flags = [2 ** 31, 0.5, Number.NaN, '1' as never, undefined as never, -(2 ** 31)]
      return Promise.all(flags.map(async (flag) => (await caught(world.agree(flag))).code))
    })
    expect(codes[0]).toEqual([...new Array(5).fill('ERR_ARGUMENT'), `ok: ${-(2 ** 31)}`])
  })
})

describe('ranks that have returned', () => {
  const returning = (processes: number, returned: readonly number[], call: 'agree' | 'shrink') =>
    withKills({ processes }, 6, async (world) => {
      if (returned.includes(world.rank)) return ''
      // Some come before the others have returned, some after.
      for (let turn = 0; turn < world.rank; turn++) await new Promise(setImmediate)
      const { code, message } = await caught(call === 'agree' ? world.agree(1) : world.shrink())
      return `${code}: ${message}`
    })

  it.each([
    ['whole processes', 3, [2, 3], 'process 1 with world ranks 2-3 has'],
    ['some ranks of processes', 3, [1, 4], 'world rank 1, world rank 4 have'],
    ['ranks of the only process', 1, [0], 'world rank 0 has'],
  ] as const)('take part in nothing: %s', async (_, processes, returned, who) => {
    for (const call of ['agree', 'shrink'] as const) {
      const text = `ERR_COLLECTIVE_MISMATCH: ${call} on the world of 6 ranks: ${who} returned without calling it`
      const results = await returning(processes, returned, call)
      expect(results).toEqual(
        [0, 1, 2, 3, 4, 5].map((rank) => (returned.includes(rank as never) ? '' : text)),
      )
    }
  })

  it('do not keep a call from being complete that they have made', async () => {
    const results = await withKills({ processes: 3 }, 6, async (world) => {
      const agreed = world.agree(world.rank < 2 ? 3 : 7)
      if (world.rank % 2 === 0) return 0
      return agreed
    })
    expect(results).toEqual([0, 3, 0, 3, 0, 3])
  })
})

describe('after a loss', () => {
  it('receives and probes from any source fail until it is acknowledged, then wait for ranks that live', async () => {
    const results = await withKills({ processes: 4 }, 8, async (world, kill) => {
      const early = caught(world.recv(undefined, 1))
      await lose1(world, kill)
      const any = [
        early,
        ...[world.recv, world.probe, world.iprobe, world.improbe].map((call) =>
          call.call(world, ANY_SOURCE, 5),
        ),
      ]
      const refused = await Promise.all(any.map(caught))
      const acknowledged = await world.ackFailed()
      const waiting = world.recv(undefined, 2)
      // Ranks that live: each sends to the next.
      const living = [0, 1, 4, 5, 6, 7]
      const next = living[(living.indexOf(world.rank) + 1) % living.length]
      await world.send(world.rank, next, 2)
      const got = (await waiting).data
      return { refused: refused.map(({ code }) => code), acknowledged, got, none: await world.iprobe() }
    })
    for (const [rank, result] of results.entries()) {
      if (result === undefined) continue
      const [, ...later] = result.refused
      expect(later).toEqual(new Array(4).fill('ERR_PEER_LOST'))
      expect(result).toMatchObject({ acknowledged: 1, got: [7, 0, -1, -1, 1, 4, 5, 6][rank], none: null })
    }
  })

  it('a rank left alone receives from no rank', async () => {
    const results = await withKills({ processes: 4 }, 4, async (world, kill) => {
      await world.barrier()
      if (world.rank === 2) for (const process of [0, 1, 3]) kill(process)
      const first = await caught(world.recv(0))
      const count = await world.ackFailed()
      const second = await caught(world.recv())
      await world.send('to itself', world.rank, 3)
      return [first.code, count, second.code, (await world.recv(undefined, 3)).data]
    })
    expect(results).toEqual([
      undefined,
      undefined,
      ['ERR_PEER_LOST', 3, 'ERR_PEER_LOST', 'to itself'],
      undefined,
    ])
  })

  it('a communicator is freed by each process alone, and twice-shrunk ones work', async () => {
    const results = await withKills({ processes: 4 }, 8, async (world, kill) => {
      const copy = await world.dup()
      await lose1(world, kill)
      await world.ackFailed()
      const rest = await copy.shrink()
      await copy.free()
      if (rest.rank === 0) kill(3)
      await caught(rest.barrier())
      const last = await rest.shrink()
      await rest.free()
      const ranks = [...(await last.allgather(Int32Array.of(world.rank)))]
      await last.free()
      return ranks
    })
    const ranks = [0, 1, 4, 5]
    expect(results).toEqual([ranks, ranks, undefined, undefined, ranks, ranks, undefined, undefined])
  })

  it('a communicator that has lost no process continues', async () => {
    const results = await withKills({ processes: 4 }, 8, async (world, kill) => {
      const half = await world.split(world.rank < 4 ? 0 : 1)
      await lose1(world, kill)
      await world.ackFailed()
      const { code } = await caught(half.allreduce(Int32Array.of(1), 'sum'))
      return code
    })
    expect(results).toEqual([
      ...['ERR_PEER_LOST', 'ERR_PEER_LOST', undefined, undefined],
      ...['ok: 4', 'ok: 4', 'ok: 4', 'ok: 4'],
    ])
  })

  it('fails the world when one rank returns without acknowledging it, though others have', async () => {
    const world = withKills({ processes: 4 }, 8, async (world, kill) => {
      await lose1(world, kill)
      if (world.rank !== 6) await world.ackFailed()
    })
    await expect(world).rejects.toMatchObject({ code: 'ERR_PEER_LOST', details: { process: 1 } })
  })
})

it('without an authority all five calls reject with ERR_AUTHORITY', async () => {
  const session = await local({ processes: 2 }).open()
  for (const fabric of session.hosted)
    delete (fabric as { -readonly [K in keyof Fabric]: Fabric[K] }).authority
  const codes = await hosted(session, 2, async (world) => {
    const calls = [world.failed(), world.ackFailed(), world.revoke(), world.agree(1), world.shrink()]
    const refused = await Promise.all(calls.map(caught))
    await world.barrier()
    return refused.map(({ code }) => code)
  })
  expect(codes).toEqual(new Array(2).fill(new Array(5).fill('ERR_AUTHORITY')))
})
