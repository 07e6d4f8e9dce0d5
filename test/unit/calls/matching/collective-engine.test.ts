import { describe, expect, it } from 'vitest'
import { isRankweaveError, RankweaveError } from '../../../../src/errors.js'
import { type LocalOptions, local } from '../../../../src/fabric/local/local.js'
import type { Communicator } from '../../../../src/handles/communicator.js'
import { run } from '../../../../src/launch/run.js'
import { createOperation } from '../../../../src/messages/datatype/operation.js'
import { refusal } from '../../../support/refusal.js'

/** What became of a promise: its value, or code and message of its error. */
async function outcome(
  promise: Promise<unknown>,
): Promise<{ code: string; message: string; value?: unknown }> {
  try {
    return { code: 'ok', message: '', value: await promise }
  } catch (error) {
    if (!isRankweaveError(error)) throw error
    return { code: error.code, message: error.message }
  }
}

const outcomes = (
  ranks: number,
  options: LocalOptions,
  main: (world: Communicator) => Promise<unknown>,
): Promise<{ code: string; message: string }[]> =>
  run((world: Communicator) => outcome(main(world)), { ranks, fabric: local({ seed: 3, ...options }) })

/**
 * A rank may have done its part of a collective before another one fails in it; the next one fails
 * everywhere.
 */
const thenBarrier = (call: (world: Communicator) => Promise<unknown>) => async (world: Communicator) => {
  await call(world)
  await world.barrier()
}

const processCounts = [1, 2, 4]

describe.each(processCounts)('mismatched calls on %i processes', (processes) => {
  it('fail on every rank with an error that names both calls', async () => {
    const seen = await outcomes(
      4,
      { processes },
      thenBarrier((world) =>
        world.rank === 3 ? world.barrier() : world.bcast(Int32Array.of(world.rank), 1),
      ),
    )
    for (const { code, message } of seen) {
      expect(code).toBe('ERR_COLLECTIVE_MISMATCH')
      expect(message).toMatch(/collective #0 of the world/)
      expect(message).toMatch(/rank [0-2] called bcast\(root 1\)/)
      expect(message).toMatch(/rank 3 called barrier\(\)/)
    }
  })

  it.each([
    ['roots', (w: Communicator) => w.bcast(Int32Array.of(1), w.rank === 2 ? 2 : 0), 'root 2', 'root 0'],
    ['counts', (w: Communicator) => w.allreduce(new Int32Array(w.rank === 2 ? 5 : 4), 'sum'), '5 x', '4 x'],
    [
      'types',
      (w: Communicator) => w.allgather(w.rank === 2 ? new Int8Array(4) : new Int16Array(4)),
      'Int8Array',
      'Int16Array',
    ],
    ['operations', (w: Communicator) => w.scan(new Int8Array(1), w.rank === 2 ? 'max' : 'min'), 'max', 'min'],
    [
      'kinds of data',
      (w: Communicator) => w.allgather((w.rank === 2 ? { a: 1 } : new Int16Array(4)) as Int16Array),
      'value',
      'Int16Array',
    ],
    [
      'numbers and arrays',
      (w: Communicator): Promise<unknown> =>
        w.rank === 2 ? w.allreduce(1, 'sum') : w.allreduce(Float64Array.of(1), 'sum'),
      'allreduce(sum, number)',
      'allreduce(sum, 1 x Float64Array)',
    ],
    [
      'numbers and bigints',
      (w: Communicator): Promise<unknown> => (w.rank === 2 ? w.scan(1, 'max') : w.scan(1n, 'max')),
      'scan(max, number)',
      'scan(max, bigint)',
    ],
    [
      'counts of blocks',
      (w: Communicator) =>
        w.reduceScatter(new Int8Array(4), 'sum', { counts: w.rank === 2 ? [4, 0, 0, 0] : [1, 1, 1, 1] }),
      'reduceScatter',
      'reduceScatter',
    ],
  ])('are detected by their %s', async (_, call, one, other) => {
    const seen = await outcomes(4, { processes }, thenBarrier(call))
    for (const { code, message } of seen) {
      expect(code).toBe('ERR_COLLECTIVE_MISMATCH')
      expect(message).toContain(one)
      expect(message).toContain(other)
    }
  })

  it('fail even when no process sends, as with two roots that only receive', async () => {
    const seen = outcomes(4, { processes }, (world) => world.gather(Int32Array.of(1), world.rank < 2 ? 0 : 2))
    const codes = await seen.then(
      (list) => list.map(({ code }) => code),
      (error) => [error.code],
    )
    for (const code of codes) expect(code).toBe('ERR_COLLECTIVE_MISMATCH')
  })

  it('revoke their communicator and no other', async () => {
    const seen = await run(
      async (world: Communicator) => {
        const other = await world.dup()
        await other.barrier()
        await outcome(world.rank === 0 ? world.barrier() : world.allgather(Int32Array.of(1)))
        const later = await outcome(Promise.resolve().then(() => world.barrier()))
        const sum = await other.allreduce(Int32Array.of(1), 'sum')
        return [later.code, sum[0]]
      },
      { ranks: 4, fabric: local({ processes, seed: 5 }) },
    )
    expect(seen).toEqual(new Array(4).fill(['ERR_COLLECTIVE_MISMATCH', 4]))
  })
})

describe.each(processCounts)('signals on %i processes', (processes) => {
  it('a signal that aborts during a collective revokes its communicator', async () => {
    const controller = new AbortController()
    const seen = await outcomes(4, { processes }, async (world) => {
      if (world.rank === 0) {
        setImmediate(() => controller.abort('enough'))
        return world.recv(1)
      }
      return world.barrier(world.rank === 2 ? { signal: controller.signal } : {})
    })
    expect(seen.map(({ code }) => code)).toEqual(['ERR_REVOKED', 'ERR_REVOKED', 'ERR_ABORTED', 'ERR_REVOKED'])
    expect(seen[1].message).toContain('rank 2 called barrier()')
  })

  it('a signal that is already aborted revokes the communicator, too', async () => {
    const seen = await outcomes(4, { processes }, (world) =>
      world.allreduce(Int32Array.of(1), 'sum', world.rank === 1 ? { signal: AbortSignal.abort() } : {}),
    )
    expect(seen.map(({ code }) => code)).toEqual(['ERR_REVOKED', 'ERR_ABORTED', 'ERR_REVOKED', 'ERR_REVOKED'])
  })

  it('a signal that aborts after the collective has no effect', async () => {
    const controller = new AbortController()
    const seen = await outcomes(4, { processes }, async (world) => {
      await world.barrier({ signal: controller.signal })
      await world.barrier()
      controller.abort()
      await world.barrier()
    })
    expect(seen.map(({ code }) => code)).toEqual(['ok', 'ok', 'ok', 'ok'])
  })
})

describe.each(processCounts)('failures on %i processes', (processes) => {
  it('an operation that throws fails all ranks with ERR_OP', async () => {
    const op = createOperation<Int32Array>(
      () => {
        throw new Error('no sums today')
      },
      { name: 'refuses' },
    )
    const seen = await outcomes(4, { processes }, (world) => world.allreduce(Int32Array.of(1), op))
    for (const { code, message } of seen) {
      expect(code).toBe('ERR_OP')
      expect(message).toContain('operation refuses failed: no sums today')
    }
  })

  it('an operation that returns another length fails all ranks with ERR_OP', async () => {
    const op = createOperation<Int32Array>(() => new Int32Array(7), { name: 'grows' })
    const seen = await outcomes(
      4,
      { processes },
      thenBarrier((world) => world.reduce(Int32Array.of(1), op, 3)),
    )
    for (const { code, message } of seen) {
      expect(code).toBe('ERR_OP')
      expect(message).toMatch(/grows: expected 1 elements of a Int32Array as result, got 7/)
    }
  })

  it('an into that does not fit fails only its rank', async () => {
    const seen = await outcomes(4, { processes }, async (world) => {
      const into = [new Int32Array(3), new Int32Array(2), new Float32Array(3), undefined][world.rank]
      const failed = await outcome(
        world.bcast(
          world.rank === 3 ? Int32Array.of(7, 8, 9) : null,
          3,
          into && { into: into as Int32Array },
        ),
      )
      await world.barrier()
      if (failed.code !== 'ok') throw new RankweaveError(failed.code as 'ERR_TRUNCATE', failed.message)
    })
    expect(seen.map(({ code }) => code)).toEqual(['ok', 'ERR_TRUNCATE', 'ERR_TYPE_MISMATCH', 'ok'])
  })

  it('unexpected counts fail only the rank that expected others', async () => {
    const seen = await run(
      async (world: Communicator) => {
        const counts = world.rank === 1 ? [1, 1, 1, 1] : [0, 1, 2, 3]
        const { code, message } = await outcome(world.allgatherv(new Int8Array(world.rank), { counts }))
        await world.barrier()
        return code === 'ok' ? code : `${code} ${message}`
      },
      { ranks: 4, fabric: local({ processes, seed: 1 }) },
    )
    expect(seen).toEqual(['ok', 'ERR_COUNT expected 1 elements of rank 0, got 0', 'ok', 'ok'])
  })

  it('invalid arguments reject before the rank joins, so it can call again', async () => {
    const seen = await run(
      async (world: Communicator) => {
        const codes: string[] = []
        const bad = async (call: () => Promise<unknown>) => codes.push((await outcome(call())).code)
        await bad(() => world.bcast(null, 4))
        await bad(() => world.gather(new Int8Array(1), -1))
        await bad(() => world.reduce(new Int8Array(1), 'sum', 1.5))
        await bad(() => world.allreduce(new Int8Array(1), 'average' as 'sum'))
        await bad(() => world.allreduce(new Float32Array(1), 'band' as never))
        await bad(() => world.allreduce(new Int32Array(3), 'minloc'))
        await bad(() => world.allreduce({ a: 1 } as never, 'sum'))
        await bad(() => world.allreduce('text' as never, 'max'))
        await bad(() => world.allreduce(true as never, 'land'))
        await bad(() => world.allreduce(world.rank, 'band' as never))
        await bad(() => world.scan(world.rank, 'minloc' as never))
        await bad(() => world.exscan(1n, 'maxloc' as never))
        await bad(() => world.allreduce(1, 'average' as never))
        await bad(() => world.allreduce(1, 'sum', { into: new Float64Array(1) } as never))
        await bad(() => world.reduceScatter(1 as never, 'sum'))
        await bad(() => world.allgather((() => 1) as never))
        await bad(() => world.alltoall(new Int8Array(5)))
        await bad(() => world.alltoall([1, 2, 3]))
        await bad(() => world.alltoall('text' as never))
        await bad(() => world.alltoallv(new Int8Array(5), [1, 1, 1, 3]))
        await bad(() => world.alltoallv(new Int8Array(5), [1, 1, 1]))
        await bad(() => world.alltoallv(new Int8Array(5), [1, 1, -1, 1]))
        await bad(() => world.reduceScatter(new Int8Array(6), 'sum'))
        await bad(() => world.reduceScatter(new Int8Array(6), 'sum', { counts: [1, 2, 3, 4] }))
        await bad(() => world.allgatherv([1] as never))
        await bad(() => world.bcast(null, 0, { into: [] as never }))
        await bad(() => world.barrier({ signal: {} as AbortSignal }))
        if (world.rank === 2) await bad(() => world.scatterv(new Int8Array(3), null, 2))
        await world.barrier()
        return codes.join(' ')
      },
      { ranks: 4, fabric: local({ processes, seed: 1 }) },
    )
    const expected =
      'ERR_RANK ERR_RANK ERR_RANK ERR_OP ERR_OP ERR_COUNT ERR_OP ERR_OP ERR_OP ERR_OP ERR_OP ERR_OP ERR_OP ERR_TYPE ' +
      'ERR_TYPE ERR_CLONE ERR_COUNT ERR_COUNT ERR_TYPE ERR_COUNT ' +
      'ERR_COUNT ERR_COUNT ERR_COUNT ERR_COUNT ERR_TYPE ERR_TYPE ERR_ARGUMENT'
    seen.forEach((codes, rank) => {
      expect(codes).toBe(expected + (rank === 2 ? ' ERR_COUNT' : ''))
    })
  })
})

describe('a value that cannot be cloned', () => {
  it('is refused with the name of the call', async () => {
    const method = { call() {} } as never
    const calls: Readonly<Record<string, (world: Communicator) => Promise<unknown>>> = {
      send: (world) => world.send(method, 0),
      ssend: (world) => world.ssend(method, 0),
      bcast: (world) => world.bcast(method),
      gather: (world) => world.gather(method),
      allgather: (world) => world.allgather(method),
      scatter: (world) => world.scatter([method]),
      alltoall: (world) => world.alltoall([method]),
      allreduce: (world) =>
        world.allreduce(
          method,
          createOperation(() => method, { commutative: true }),
        ),
    }
    await run(
      async (world) => {
        for (const [name, call] of Object.entries(calls)) {
          await expect(call(world)).rejects.toMatchObject(
            refusal('ERR_CLONE', new RegExp(`^${name}: .* could not be cloned`)),
          )
        }
      },
      { ranks: 1 },
    )
  })
})

describe('a lost process', () => {
  it('fails pending and later collectives of its communicators, not those of others', async () => {
    const fabric = local({ processes: 3, seed: 2, faults: { kill: [{ process: 2, afterFrames: 6 }] } })
    const survivors: unknown[] = []
    await run(
      async (world: Communicator) => {
        const pair = await world.split(world.rank < 2 ? 0 : 1)
        const codes: string[] = []
        for (let i = 0; i < 40; i++) codes.push((await outcome(world.barrier())).code)
        const sum = await pair.allreduce(Int32Array.of(1), 'sum')
        survivors[world.rank] = [new Set(codes).has('ERR_PEER_LOST'), codes.at(-1), sum[0]]
      },
      { ranks: 3, fabric },
    ).catch((error) => expect(error.code).toBe('ERR_PEER_LOST'))
    expect(survivors.slice(0, 2)).toEqual(new Array(2).fill([true, 'ERR_PEER_LOST', 2]))
  })
})

describe.each(processCounts)('order and completion on %i processes', (processes) => {
  it('results are not shared with other ranks', async () => {
    await run(
      async (world: Communicator) => {
        const sum = await world.allreduce(Float64Array.of(1), 'sum')
        const shared = await world.bcast(world.rank === 0 ? { list: [1] } : null, 0)
        const all = await world.allgather(Float64Array.of(world.rank))
        sum[0] = -world.rank
        ;(shared as { list: number[] }).list.push(world.rank)
        all.fill(world.rank)
        await world.barrier()
        expect(sum[0]).toBe(-world.rank)
        expect((shared as { list: number[] }).list).toEqual([1, world.rank])
        expect([...all]).toEqual(new Array(6).fill(world.rank))
      },
      { ranks: 6, processes },
    )
  })
})

describe('reports', () => {
  it('a report names the rank that has not called', async () => {
    const world = run(
      (comm: Communicator): Promise<unknown> => (comm.rank === 1 ? comm.recv(0) : comm.barrier()),
      {
        ranks: 3,
        processes: 2,
      },
    )
    const error = await world.then(
      () => null,
      (reason) => reason,
    )
    expect(error.code).toBe('ERR_DEADLOCK')
    expect(error.message).toMatch(/rank 0 waits in barrier\(\) #0; rank 1 has not called it/)
  })
})
