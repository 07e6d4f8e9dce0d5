import { local } from '../../src/fabric/local/local.js'
import { run } from '../../src/launch/run.js'
import { type Figure, ownFigure } from '../bench.js'
import { AskingMember } from './asking-member.js'
import { RunningService, type ServiceState } from './running-service.js'
import { percentile } from './samples.js'

const worlds = 100
const members = 20
const mostHeapRatio = 1.1

const kinds = ['split', 'barrier', 'free'] as const
/** Milliseconds of every call, by kind. */
type Latencies = Readonly<Record<(typeof kinds)[number], number[]>>

/** What a member does again and again. */
interface Caller {
  split(color: number): Promise<unknown>
  barrier(): Promise<unknown>
  /** Of what the last split made. */
  free(): Promise<unknown>
}

/**
 * Members that ask over WebSockets, each as fast as it is answered; and the same calls of as many ranks in
 * one process.
 */
export async function* worldsSuite(quick: boolean): AsyncGenerator<Figure> {
  const seconds = quick ? 5 : 60
  const asked = await RunningService.use(async (service) => {
    const load = (most: number) => askedWorlds(`${service.url.replace('http', 'ws')}/v1/worlds`, most)
    // Code and caches are warm.
    await load(2)
    const before = await service.state()
    const used = process.cpuUsage()
    const begin = performance.now()
    const latencies = await load(seconds)
    const ms = performance.now() - begin
    const own = process.cpuUsage(used)
    return { latencies, ms, before, after: await service.state(), ownMs: (own.user + own.system) / 1000 }
  })
  const begin = performance.now()
  const inProcess = await localWorlds(quick ? 2 : 10)
  const inProcessMs = performance.now() - begin
  yield* figuresOf(asked, callsOf(inProcess) / inProcessMs, inProcess)
}

function* figuresOf(
  {
    latencies,
    ms,
    before,
    after,
    ownMs,
  }: {
    readonly latencies: Latencies
    readonly ms: number
    readonly before: ServiceState
    readonly after: ServiceState
    readonly ownMs: number
  },
  localRate: number,
  inProcess: Latencies,
): Generator<Figure> {
  const calls = callsOf(latencies)
  const details = {
    suite: 'worlds',
    worlds,
    members: worlds * members,
    seconds: Math.round(ms / 1000),
    calls,
  }
  const figure = (name: string, unit: string, value: number, target: number | null = null) =>
    ownFigure(`${worlds * members} members of ${worlds} worlds: ${name}`, unit, [value], target, details)
  const compared = (of: Figure, peer: number): Figure => ({ ...of, peer, ratio: of.ours! / peer })
  yield compared(figure('calls answered', 'calls/s', (1000 * calls) / ms), 1000 * localRate)
  // In a closed loop, members / throughput (Little's law): what the others are measured against.
  yield figure('a call, mean', 'ms', (worlds * members * ms) / calls)
  for (const kind of kinds)
    for (const [share, name] of [
      [0.5, 'median'],
      [0.99, 'p99'],
    ] as const) {
      const value = percentile(latencies[kind], share)
      yield compared(figure(`${kind}, ${name}`, 'ms', value), percentile(inProcess[kind], share))
    }
  yield figure('processor of the service', '% of a core', (100 * (after.cpuMs - before.cpuMs)) / ms)
  yield figure('processor of the members', '% of a core', (100 * ownMs) / ms)
  yield figure('heap after it, of that before', 'ratio', after.heapBytes / before.heapBytes, mostHeapRatio)
}

const callsOf = (latencies: Latencies) => kinds.reduce((sum, kind) => sum + latencies[kind].length, 0)

/**
 * All members connect at once, call for so many seconds, leave, and close their sockets. Any error ends the
 * bench.
 */
async function askedWorlds(url: string, seconds: number): Promise<Latencies> {
  const latencies: Latencies = { split: [], barrier: [], free: [] }
  const end = performance.now() + 1000 * seconds
  await Promise.all(
    Array.from({ length: worlds }, async (_, n) => {
      const all = await Promise.all(Array.from({ length: members }, () => AskingMember.connected(url)))
      await Promise.all(all.map((member) => member.call('join', { name: `world-${n}`, members })))
      await Promise.all(all.map((member) => member.begun))
      await rounds(all.map(callerOver), end, latencies)
      await Promise.all(all.map((member) => member.call('leave', {}).then(() => member.close())))
    }),
  )
  return latencies
}

function callerOver(member: AskingMember): Caller {
  let comm: string | undefined
  return {
    split: async (color) => {
      comm = (await member.call('split', { comm: 'world', color })).comm
    },
    barrier: () => member.call('barrier', { comm: 'world' }),
    free: () => member.call('free', { comm }),
  }
}

/** The same by the library alone. */
async function localWorlds(seconds: number): Promise<Latencies> {
  const latencies: Latencies = { split: [], barrier: [], free: [] }
  const end = performance.now() + 1000 * seconds
  await Promise.all(
    Array.from({ length: worlds }, () => {
      const state = { rounds: Number.POSITIVE_INFINITY }
      return run(
        async (world) => {
          let part: Awaited<ReturnType<typeof world.split>>
          const caller: Caller = {
            split: async (color) => {
              part = await world.split(color)
            },
            barrier: () => world.barrier(),
            free: () => part!.free(),
          }
          await memberRounds(caller, world.rank, end, latencies, state)
        },
        { ranks: members, fabric: local({ processes: members }) },
      )
    }),
  )
  return latencies
}

function rounds(callers: readonly Caller[], end: number, latencies: Latencies): Promise<unknown> {
  const state = { rounds: Number.POSITIVE_INFINITY }
  return Promise.all(callers.map((caller, n) => memberRounds(caller, n, end, latencies, state)))
}

/** All members of a world make the same number of rounds: the first decides, and the others follow it. */
async function memberRounds(
  caller: Caller,
  n: number,
  end: number,
  latencies: Latencies,
  state: { rounds: number },
): Promise<void> {
  const timed = async (samples: number[], call: () => Promise<unknown>) => {
    const begin = performance.now()
    await call()
    samples.push(performance.now() - begin)
  }
  for (let round = 0; round < state.rounds; round++) {
    if (n === 0 && state.rounds === Number.POSITIVE_INFINITY && performance.now() > end)
      state.rounds = round + 2
    await timed(latencies.split, () => caller.split((n + round) % 3))
    await timed(latencies.barrier, () => caller.barrier())
    await timed(latencies.free, () => caller.free())
  }
}
