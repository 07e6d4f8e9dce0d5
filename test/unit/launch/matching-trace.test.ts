import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Communicator, host, local, type RunOptions, run } from 'rankweave'
import { afterAll, describe, expect, it } from 'vitest'
import { below, mulberry32 } from '../../../src/base/random.js'
import { runInPage } from '../../../src/browser/run.js'
import { parseSettings } from '../../../src/launch/websocket/settings.js'
import {
  type MatchingOperation,
  readTraceLines,
} from '../../../src/messages/matching-queues/matching-trace.js'
import { replayTrace } from '../../support/replay-trace.js'

const folder = mkdtempSync(join(tmpdir(), 'rankweave-matching-trace-'))
afterAll(() => rmSync(folder, { recursive: true }))
let directories = 0
const fresh = () => join(folder, `traces/${directories++}`)

function readTrace(directory: string, rank: number) {
  const lines = readFileSync(join(directory, `rank-${rank}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
  const { header, operations, end } = readTraceLines(lines)
  return { header, operations: [...operations], end }
}

async function traced(
  main: (world: Communicator) => Promise<unknown>,
  options: Partial<RunOptions> & { readonly ranks: number },
  traceOperations?: number,
): Promise<string> {
  const trace = fresh()
  const matching = { trace, ...(traceOperations === undefined ? {} : { traceOperations }) }
  await run(main, { ...options, matching })
  return trace
}

/** Source and tag of the message that each receive has got, in the order of their posts. */
function received(operations: readonly MatchingOperation[], matches: Float64Array): string[] {
  const messages: string[] = []
  const receives: (string | number)[] = []
  operations.forEach((operation, i) => {
    if (operation.kind === 'arrive') {
      messages.push(`${operation.context} ${operation.source} ${operation.tag}`)
      if (matches[i] >= 0) receives[matches[i]] = messages.length - 1
    } else if (operation.kind === 'post') receives.push(matches[i])
  })
  return receives.map((number) => messages[number as number] ?? 'none')
}

describe('a recorded trace', () => {
  it.each([1, 2, 4])('replays to the matches that took place, on %i processes', async (processes) => {
    const ranks = 4
    const each = 60
    const got: string[][] = []
    const directory = await traced(
      async (world) => {
        const halves = (await world.split(world.rank % 2, 0))!
        const next = mulberry32(world.rank + 1)
        const sends: Promise<void>[] = []
        for (let i = 0; i < each; i++) {
          const tag = below(next, 3)
          for (let to = 0; to < ranks; to++) sends.push(world.send(new Uint8Array(8 * i), to, tag))
          if (i % 5 === 0) sends.push(halves.send('half', 1 - halves.rank, tag))
        }
        const mine: string[] = []
        // Wildcards come last, so that they leave what the others wait for.
        const receives = Array.from({ length: ranks * each }, (_, i) =>
          world.irecv(i < 2 * each ? i % ranks : -1, -1),
        )
        for (const receive of receives) {
          const { source, tag } = await receive.wait()
          mine.push(`0 ${source} ${tag}`)
        }
        for (let i = 0; i < each / 5; i++) {
          const { source, tag } = await halves.recv(-1, -1)
          mine.push(`1 ${source} ${tag}`)
        }
        await Promise.all(sends)
        got[world.rank] = mine
      },
      { ranks, fabric: local({ processes, seed: 5 }) },
    )
    for (let rank = 0; rank < ranks; rank++) {
      const { header, operations, end } = readTrace(directory, rank)
      expect(header).toMatchObject({ processes: ranks, rank })
      expect(end).toEqual({ bounded: false })
      // Contexts are numbered by their first message in the process.
      const sizes = [...header.communicatorSizes!]
      const ofWorld = sizes.find(([, size]) => size === ranks)![0]
      const { matches, unexpected, posted } = replayTrace(operations, { name: 'list' }, header)
      const named = received(operations, matches).map((text) => {
        const [context, ...others] = text.split(' ')
        return [Number(context) === ofWorld ? 0 : 1, ...others].join(' ')
      })
      expect(named).toEqual(got[rank])
      expect(named.length).toBe(ranks * each + each / 5)
      expect([unexpected.size, posted.size]).toEqual([0, 0])
    }
  })

  it('has the messages of collectives where it is asked for them, each of its call, and all meet', async () => {
    const main = async (world: Communicator) => {
      for (let i = 0; i < 3; i++) await world.allreduce(new Float64Array(4), 'sum')
      await world.bcast(new Uint8Array(100_000), 1)
      const halves = (await world.split(world.rank % 2, 0))!
      await halves.allgather(Int32Array.of(world.rank))
      const sum = world.allreduceInit(new Float64Array(2), new Float64Array(2), 'sum')
      for (let i = 0; i < 2; i++) await sum.start()
      if (world.rank < 2) await world.send('plain', 1 - world.rank, 5)
      if (world.rank < 2) await world.recv(1 - world.rank, 5)
    }
    const tracedOn = async (processes: number, traceCollectives: boolean) => {
      const trace = fresh()
      await run(main, {
        ranks: 8,
        fabric: local({ processes, seed: 3 }),
        matching: { trace, traceCollectives },
      })
      return Array.from({ length: 8 }, (_, rank) => readTrace(trace, rank))
    }
    for (const { operations } of await tracedOn(8, false))
      expect(operations.filter((one) => 'collective' in one)).toEqual([])
    for (const processes of [8, 4]) {
      const traces = await tracedOn(processes, true)
      const kinds = new Set<unknown>()
      const calls = new Set<string>()
      for (const [rank, { header, operations }] of traces.entries()) {
        const own = operations.filter((one) => 'collective' in one) as Extract<
          MatchingOperation,
          { source: number }
        >[]
        // The lowest rank of a process has them, and is their source.
        const ofWorld = own.filter(({ context }) => header.communicatorSizes!.get(context) === 8)
        expect(ofWorld.length > 0).toBe(rank % (8 / processes) === 0)
        for (const { collective, call, context } of own) {
          kinds.add(collective)
          calls.add(`${context} ${collective} ${call}`)
        }
        for (const { kind, source, bytes } of ofWorld) {
          expect(source % (8 / processes)).toBe(0)
          expect(bytes === undefined).toBe(kind === 'post')
        }
        for (const name of ['list', 'collectives'] as const) {
          const { unexpected, posted } = replayTrace(operations, { name }, header)
          expect([unexpected.size, posted.size]).toEqual([0, 0])
        }
      }
      expect([...kinds].sort()).toEqual(['allgather', 'allreduce', 'bcast'])
      // On each process: three calls and two starts of an allreduce, a bcast, and an allgather of the halves.
      expect(calls.size).toBeGreaterThanOrEqual(7)
    }
  })

  it('has probes, matched probes, cancels and what was taken back', async () => {
    const directory = await traced(
      async (world) => {
        if (world.rank === 1) {
          await world.send(Uint8Array.of(1, 2), 0, 7)
          await world.barrier()
          return
        }
        const never = world.irecv(1, 99)
        never.cancel()
        await never.wait().catch(() => {})
        await world.probe(1, 7)
        await (await world.mprobe(-1, 7)).recv()
        const aborted = new AbortController()
        const sent = world.isend(new Uint8Array(9), 0, 3, { signal: aborted.signal })
        await sent.wait()
        expect(await world.iprobe(1, 7)).toBe(null)
        expect(await world.improbe(1, 7)).toBe(null)
        await world.barrier()
      },
      { ranks: 2 },
    )
    const { operations } = readTrace(directory, 0)
    const kinds = new Set(operations.map(({ kind }) => kind))
    expect(kinds).toEqual(new Set(['post', 'cancel', 'arrive', 'probe', 'mprobe']))
    expect(operations).toContainEqual({ kind: 'cancel', receive: 0 })
    expect(operations).toContainEqual({ kind: 'arrive', context: 0, source: 1, tag: 7, bytes: 2 })
    expect(operations).toContainEqual({ kind: 'arrive', context: 0, source: 0, tag: 3, bytes: 9 })
  })

  it('ends after its first operations, well formed', async () => {
    const ring = async (world: Communicator) => {
      for (let i = 0; i < 50; i++)
        await world.sendrecv(Uint8Array.of(i), (world.rank + 1) % 3, (world.rank + 2) % 3, { sendTag: 1 })
    }
    const whole = readTrace(await traced(ring, { ranks: 3 }), 0)
    expect([whole.operations.length, whole.end.bounded]).toEqual([100, false])
    const directory = await traced(ring, { ranks: 3 }, 21)
    const { operations, end } = readTrace(directory, 0)
    expect(end.bounded).toBe(true)
    expect(operations).toEqual(whole.operations.slice(0, 21))
    expect(readdirSync(directory).sort()).toEqual(['rank-0.jsonl', 'rank-1.jsonl', 'rank-2.jsonl'])
  })

  it('is written when the program fails, and when it deadlocks', async () => {
    const directory = fresh()
    const failing = run(
      async (world: Communicator) => {
        if (world.rank === 1) await world.send('x', 0, 4)
        else await world.recv(1, 4)
        if (world.rank === 0) throw new Error('on purpose')
        await world.recv(0, 5)
      },
      { ranks: 2, fabric: 'local', matching: { trace: directory } },
    )
    await expect(failing).rejects.toThrow('on purpose')
    expect(
      readTrace(directory, 0)
        .operations.map(({ kind }) => kind)
        .sort(),
    ).toEqual(['arrive', 'post'])
    const stuck = fresh()
    await expect(
      run(async (world: Communicator) => world.recv(0, 5), { ranks: 1, matching: { trace: stuck } }),
    ).rejects.toMatchObject({ code: 'ERR_DEADLOCK' })
    expect(readTrace(stuck, 0).operations[0]).toEqual({ kind: 'post', context: 0, source: 0, tag: 5 })
  })
})

describe('matching.trace is refused', () => {
  const main = async () => {}

  it('for a directory that cannot be written, before the world starts', async () => {
    const file = join(folder, 'a-file')
    writeFileSync(file, '')
    for (const trace of [file, join(file, 'below'), '/proc/absent'])
      await expect(run(main, { ranks: 1, matching: { trace } })).rejects.toMatchObject({ code: 'ERR_FILE' })
  })

  it.each([
    [{ trace: '' }, /expected matching\.trace, the name of a directory/],
    [{ traceOperations: 5 }, /matching\.traceOperations is for matching\.trace/],
    [{ traceCollectives: true }, /matching\.traceCollectives is for matching\.trace/],
    [{ trace: 'x', traceOperations: 0 }, /traceOperations/],
    [{ trace: 7 as never }, /trace/],
  ])('for %o', async (matching, message) => {
    const promise = run(main, { ranks: 1, matching })
    await expect(promise).rejects.toMatchObject({ code: 'ERR_ARGUMENT' })
    await expect(promise).rejects.toThrow(message)
  })

  it('removes the files of another run before the world starts, and refuses what is no file', async () => {
    const trace = fresh()
    const options = (ranks: number) => ({ ranks, fabric: local(), matching: { trace } })
    await run(() => {}, options(3))
    await run(() => {}, options(1))
    expect(readdirSync(trace)).toEqual(['rank-0.jsonl'])
    mkdirSync(join(trace, 'rank-7.jsonl'))
    let started = false
    const main = () => {
      started = true
    }
    await expect(run(main, options(1))).rejects.toThrow(/rank-7\.jsonl': expected a file or nothing there/)
    expect(started).toBe(false)
  })

  it('for a world of more ranks than files', async () => {
    const promise = run(main, { ranks: 65_537, matching: { trace: join(folder, 'never') } })
    await expect(promise).rejects.toThrow(/expected at most 65536 ranks with matching\.trace, got 65537/)
  })

  it('in pages, and where processes join: none writes files for another', async () => {
    const matching = { trace: join(folder, 'never') }
    await expect(runInPage(main, { ranks: 1, matching })).rejects.toMatchObject({ code: 'ERR_ARGUMENT' })
    await expect(host({ ranks: 1, matching })).rejects.toMatchObject({ code: 'ERR_ARGUMENT' })
    const settings = JSON.stringify({ ranks: 1, matching })
    expect(() => parseSettings(settings)).toThrow(/expected the settings of a world/)
    expect(parseSettings(JSON.stringify({ ranks: 1, matching: { count: true } }))).toMatchObject({ ranks: 1 })
  })
})
