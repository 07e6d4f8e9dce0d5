// Nanoseconds of processor time of a call in worlds of logical processes, with online tuning and without it, which take
// turns of some milliseconds. Every setting that may be chosen runs the algorithm of the rule, so what differs is the
// choice and the record. Arguments: processes, bytes, collective.
import { givenOptions } from '../../src/base/option-table.js'
import { local } from '../../src/fabric/local/local.js'
import type { Communicator } from '../../src/handles/communicator.js'
import { installMailboxDesigns } from '../../src/launch/processes/optional-parts.js'
import { cellAxes, closedGrid, countCells } from '../../src/tuning/models/decision-grid.js'
import type { OnlineOptions } from '../../src/tuning/online/online-process.js'
import type { TuningSetting } from '../../src/tuning/settings/setting.js'
import { hostSession } from '../../src/world/world.js'

/**
 * What online tuning does: the second is a world without it again, so that what it adds is chance; the third chooses, but
 * has no call left to record, as after the first 1,000 of a run.
 */
export const forcedModes = ['off', 'off again', 'tuned, not recorded', 'tuned', 'tuning'] as const
type ForcedMode = (typeof forcedModes)[number]
export type ForcedCollective = 'allreduce' | 'bcast'

const processes = Number(process.argv[2])
const warmUpTurns = 100
const warmUpCalls = 200
const turns = 301
const perTurn = 200

/** As many settings of allreduce as this library has; all of them are recursive doubling without segments. */
const alike = 20
const settings: readonly TuningSetting[] = [
  { collective: 'allreduce', algorithm: 'default', parameters: {} },
  ...Array.from(
    { length: alike },
    (_, i): TuningSetting => ({
      collective: 'allreduce',
      algorithm: processes === 2 ? 'allreduce-recursive-doubling' : 'allreduce-tree',
      parameters: { segment: 2 ** 20 + i },
    }),
  ),
  { collective: 'bcast', algorithm: 'default', parameters: {} },
]

function learned(collective: 'allreduce' | 'bcast') {
  const axes = cellAxes({ nodes: 1, processesPerNode: processes })
  const own = settings.filter((setting) => setting.collective === collective)
  const cells = countCells(axes)
  const performances = Float32Array.from({ length: cells * own.length }, (_, i) => 1 / (1 + (i % own.length)))
  const best = new Int32Array(cells).fill(1)
  return closedGrid({ settings: own, axes, isTrained: true, best, performances })
}

function onlineOf(forced: ForcedMode): OnlineOptions | undefined {
  if (forced === 'off' || forced === 'off again') return undefined
  const mode = forced === 'tuning' ? 'tuning' : 'tuned'
  const calls = forced === 'tuned, not recorded' ? 0 : 2 ** 18
  const source = { kind: 'rankweave', name: 'local', machine: 'bench' } as const
  const decisions = { allreduce: learned('allreduce'), bcast: learned('bcast') }
  const model = { source, checksum: '0'.repeat(16), decisions } as unknown as NonNullable<
    OnlineOptions['model']
  >
  return { mode, seed: 1, calls, measured: processes, settings, source, folder: '', model }
}

/** The ranks of a world that stays open. */
async function openWorld(mode: ForcedMode): Promise<readonly Communicator[]> {
  const opened = await local({ processes }).open()
  const ranks: Communicator[] = []
  return new Promise((resolve) => {
    const main = async (world: Communicator) => {
      ranks[world.rank] = world
      await world.barrier()
      if (world.rank === 0) resolve(ranks)
      await new Promise(() => {})
    }
    void hostSession(opened, main, {
      ...{ ranks: processes, detectDeadlock: false },
      ...givenOptions({ online: onlineOf(mode) }),
    })
  })
}

/** Calls of one rank. */
type Calls = (count: number) => Promise<void>

function callsOf(world: Communicator, collective: ForcedCollective, sizeBytes: number): Calls {
  const own = new Int32Array(sizeBytes / 4).fill(world.rank + 1)
  const into = new Int32Array(own.length)
  const isRoot = world.rank === 0
  const call = {
    allreduce: () => world.allreduce(own, 'sum', { into }),
    bcast: () => (isRoot ? world.bcast(own) : world.bcast<Int32Array, Int32Array>(null, 0, { into })),
  }[collective]
  return async (count) => {
    for (let i = 0; i < count; i++) await call()
    const expected = collective === 'bcast' ? (isRoot ? 0 : 1) : (processes * (processes + 1)) / 2
    if (into[0] !== expected) throw new Error(`${collective}: expected ${expected}, got ${into[0]}`)
  }
}

const sizeBytes = Number(process.argv[3])
const collective = process.argv[4] as ForcedCollective
installMailboxDesigns()
const worlds = await Promise.all(forcedModes.map(openWorld))
const sides = worlds.map((ranks) => ranks.map((world) => callsOf(world, collective, sizeBytes)))
const run = (ranks: readonly Calls[], count: number) => Promise.all(ranks.map((calls) => calls(count)))
for (let turn = 0; turn < warmUpTurns; turn++) for (const ranks of sides) await run(ranks, warmUpCalls)
const samples = sides.map(() => new Float64Array(turns))
for (let turn = 0; turn < turns; turn++)
  for (let i = 0; i < sides.length; i++) {
    const side = (turn + i) % sides.length
    const begin = process.cpuUsage()
    await run(sides[side], perTurn)
    const { user, system } = process.cpuUsage(begin)
    // One thread runs all processes.
    samples[side][turn] = ((user + system) * 1000) / perTurn / processes
  }
const used = worlds
  .at(-1)![0]
  .describe()
  .collectives.filter((plan) => plan.collective === 'allreduce')
if (used.length > 1) throw new Error(`expected one algorithm, got ${JSON.stringify(used)}`)
const middle = (values: Float64Array) => values.toSorted()[turns >> 1]
const [off] = samples
const figures = Object.fromEntries(
  forcedModes.flatMap((mode, side) => [
    [mode, middle(samples[side])],
    [`${mode} added`, middle(samples[side].map((ns, turn) => ns - off[turn]))],
  ]),
)
process.stdout.write(`${JSON.stringify(figures)}\n`)
process.exit(0)
