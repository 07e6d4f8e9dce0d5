import type { BuiltPrograms } from './build-programs.js'
import { type Case, oursAtMost, ratioAtLeast, ratioAtMost, type Suite } from './comparison.js'
import { bandwidthOf, bytesText, messageRate, pingPongPlan, streamPlan } from './message-plans.js'
import type { Slow } from './programs/slow.js'
import type { WireFrames } from './programs/wire-frames.js'

/** All suites, in the order of the report. */
export function websocketSuites(built: BuiltPrograms, sizes: readonly number[]): readonly Suite[] {
  return [pingPong(built, sizes), stream(built, sizes), slow(built), frames(built), kills(built)]
}

/** Rounds of ping-pong and stream: each starts processes for every implementation. */
const runs = 5
/**
 * Processes that share two cores with their compilers need as long until all is compiled, most of it with the
 * first size. Bare ones have as long.
 */
const warmUps = { firstMs: 4000, laterMs: 1000 }

const warmedUp = <S extends { readonly warmUp: number }>(sizes: readonly S[]) =>
  sizes.map((size, n) =>
    n === 0
      ? { ...size, warmUp: 10 * size.warmUp, warmUpMs: warmUps.firstMs }
      : { ...size, warmUpMs: warmUps.laterMs },
  )

function pingPong(built: BuiltPrograms, messages: readonly number[]): Suite {
  const plan = pingPongPlan(messages)
  const sizes = warmedUp(plan.sizes)
  const { words } = plan
  return {
    name: 'pingpong',
    runs,
    implementations: [
      built.onWebSocket('ours', { program: 'pingpong', ranks: 2, args: { memory: 'ordinary', sizes } }, 60),
      built.inBareWs('ws', ['pingpong', ...words], 60),
    ],
    cases: sizes.map(({ sizeBytes }) => ({
      case: `ping-pong, half round trip, ${bytesText(sizeBytes)}, vs bare ws`,
      unit: 'us',
      ours: 'ours',
      key: String(sizeBytes),
      baselines: ['ws'],
      ...(sizeBytes === 8 ? { target: ratioAtMost(1.3) } : {}),
      details: { plot: 'latency', sizeBytes, memory: 'ordinary' },
    })),
  }
}

function stream(built: BuiltPrograms, messages: readonly number[]): Suite {
  const plan = streamPlan(messages)
  const sizes = warmedUp(plan.sizes)
  const { words } = plan
  const bandwidths = sizes.map(
    ({ sizeBytes, window }): Case => ({
      ...bandwidthOf(sizeBytes),
      case: `bandwidth, ${bytesText(sizeBytes)}, vs bare ws`,
      ours: 'ours',
      baselines: ['ws'],
      ...(sizeBytes === 2 ** 24 ? { target: ratioAtLeast(0.9) } : {}),
      details: { plot: 'bandwidth', sizeBytes, window, memory: 'ordinary' },
    }),
  )
  const rate: Case = {
    ...messageRate,
    ours: 'ours',
    baselines: ['ws'],
    details: { sizeBytes: 8, window: 64 },
  }
  return {
    name: 'stream',
    runs,
    implementations: [
      built.onWebSocket('ours', { program: 'stream', ranks: 2, args: { memory: 'ordinary', sizes } }, 60),
      built.inBareWs('ws', ['stream', ...words], 60),
    ],
    cases: [...bandwidths, ...(messages.includes(8) ? [rate] : [])],
  }
}

const slowNetwork = { latencyMs: 50, totalBytes: 2 ** 24, calls: 20 }

/** Where a latency is long, what counts is how many of them an operation takes. */
function slow(built: BuiltPrograms): Suite {
  const { latencyMs, totalBytes, calls } = slowNetwork
  const worldOf = (args: Slow, ranks: number, processes: number) => ({
    program: 'slow',
    ranks,
    processes,
    args,
  })
  const blockBytes = totalBytes / 2
  return {
    name: 'slow',
    runs: 3,
    implementations: [
      built.onWebSocket('ours', worldOf({ operation: 'allgather', totalBytes, calls }, 2, 2), 60, latencyMs),
      built.onWebSocket(
        'barrier',
        worldOf({ operation: 'barrier', totalBytes: 0, calls }, 64, 4),
        60,
        latencyMs,
      ),
      built.inBareWs('ws', ['exchange', `${blockBytes}:${calls}`], 60, latencyMs),
    ],
    cases: [
      {
        case: `allgather, ${bytesText(totalBytes)} per rank, 2 processes, ${latencyMs} ms latency, vs bare ws`,
        unit: 'MB/s',
        convert: (ms) => blockBytes / ms / 1000,
        largerIsBetter: true,
        ours: 'ours',
        key: 'allgather',
        baselines: ['ws'],
        baselineKey: String(blockBytes),
        target: ratioAtLeast(0.8),
        details: { latencyMs, totalBytes },
      },
      {
        case: `barrier, 64 ranks on 4 processes, ${latencyMs} ms latency`,
        unit: 'ms',
        ours: 'barrier',
        key: 'barrier',
        // Two rounds of dissemination between processes; ranks would need six.
        target: oursAtMost(3 * latencyMs),
        details: { latencyMs },
      },
    ],
  }
}

/**
 * Between processes, each message by itself would be a frame; lowered, what one process sends another in a
 * phase is one.
 */
function frames(built: BuiltPrograms): Suite {
  const topology = 'moore:8x8:r=2'
  const [ranks, processes] = [64, 4]
  const args: WireFrames = {
    topology,
    strategies: { direct: { kind: 'direct' }, combined: { kind: 'common-neighbor', k: 2, mode: 'agnostic' } },
  }
  const of = (what: string, key: string): Case => ({
    case: `neighbor allgather, ${topology}, ${ranks} ranks on ${processes} processes: ${what}`,
    unit: 'per call',
    ours: 'ours',
    key,
    details: { ranks, processes, topology },
  })
  return {
    name: 'frames',
    runs: 1,
    implementations: [built.onWebSocket('ours', { program: 'wire-frames', ranks, processes, args }, 60)],
    cases: [
      of('messages between processes, direct', 'direct messages'),
      of('messages between processes, combined', 'combined messages'),
      of('frames, direct, lowered', 'direct frames'),
      of('frames, combined, lowered', 'combined frames'),
    ],
  }
}

const kill = { ranks: 8, processes: 8, worlds: 50 }

/** From the moment a process is killed until every other one has ERR_PEER_LOST. */
function kills(built: BuiltPrograms): Suite {
  const what = `kill -9 to ERR_PEER_LOST on every survivor, ${kill.processes} processes, ${kill.worlds} kills`
  const { ranks, processes, worlds } = kill
  const of = (which: string, key: string, target: number): Case => ({
    case: `${what}, ${which}`,
    unit: 's',
    ours: 'ours',
    key,
    target: oursAtMost(target),
    details: { ...kill },
  })
  return {
    name: 'kills',
    runs: 1,
    implementations: [
      built.onWebSocket('ours', { program: 'kill', ranks, processes, args: { worlds } }, 600),
    ],
    cases: [of('median', 'median', 0.3), of('worst', 'worst', 2)],
  }
}
