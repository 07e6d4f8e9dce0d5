import { CommRuntime, type CommState } from '../../../../src/comm/comm-state.js'
import { stridedTable } from '../../../../src/comm/table/rank-table.js'
import { type LocalOptions, type LocalSession, local } from '../../../../src/fabric/local/local.js'
import { Communicator } from '../../../../src/handles/communicator.js'
import type { RuntimeOptions } from '../../../../src/messages/process/frame-port.js'
import { defaultRuntimeOptions } from '../../../../src/messages/process/runtime.js'
import { worldLayout } from '../../../../src/messages/process/world-layout.js'
import { waitLines } from '../../../../src/world/diagnosis.js'

/**
 * Communicators on a local fabric without `run` around them, so that a test sees runtimes and matching too.
 */
export interface TestWorld {
  readonly session: LocalSession
  readonly runtimes: readonly CommRuntime[]
  /** Of every process that hosts a rank. */
  readonly states: readonly CommState[]
  /** By rank. */
  readonly comms: readonly Communicator[]
}

export interface TestWorldOptions extends LocalOptions, Partial<RuntimeOptions> {
  readonly ranks: number
}

export async function openWorld(options: TestWorldOptions): Promise<TestWorld> {
  const { ranks, eagerLimitBytes: _, creditBytes: __, sendsAhead: ___, ...fabric } = options
  const { ranksPerProcess } = options
  const session = await local({ scribble: true, ...fabric }).open()
  const layout = worldLayout(ranks, session.nodes, ranksPerProcess)
  const runtimes = session.hosted.map(
    (fabric) => new CommRuntime(fabric, layout, { ...defaultRuntimeOptions, ...options }),
  )
  const states: CommState[] = []
  const comms: Communicator[] = []
  for (const runtime of runtimes) {
    if (runtime.hostedRanks === 0) continue
    const state = runtime.createContext({ leader: 0, counter: 0 }, stridedTable(ranks))
    states.push(state)
    for (let index = 0; index < runtime.hostedRanks; index++) comms.push(new Communicator(state, index))
  }
  return { session, runtimes, states, comms }
}

/** Runs `main` on every rank of a new world; fails with who waits for what when it comes to a standstill. */
export async function onEveryRank<T>(
  options: TestWorldOptions,
  main: (comm: Communicator, world: TestWorld) => Promise<T>,
): Promise<T[]> {
  const world = await openWorld(options)
  try {
    const all = Promise.all(world.comms.map((comm) => main(comm, world)))
    return await Promise.race([all, standstill(world, all)])
  } finally {
    await world.session.close()
  }
}

/** Returns when no frame and no transfer is in flight. */
export async function drained({ session }: TestWorld): Promise<void> {
  for (let calm = 0; calm < 2; ) {
    await new Promise(setImmediate)
    calm = session.quiet() ? calm + 1 : 0
  }
}

/** Rejects once every rank waits and nothing moves. */
async function standstill(world: TestWorld, all: Promise<unknown>): Promise<never> {
  let over = false
  const stop = () => {
    over = true
  }
  all.then(stop, stop)
  while (!over) {
    await drained(world)
    const before = world.runtimes.map(({ waits }) => waits.awake)
    if (before.some((awake) => awake > 0)) continue
    await drained(world)
    if (!over && world.runtimes.every(({ waits }) => waits.awake === 0 && waits.withSignal === 0)) {
      throw new Error(`standstill:\n${waitLines(world.runtimes).join('\n')}`)
    }
  }
  return new Promise(() => {})
}

export { codeOf, thrownCode } from '../../../support/on-ranks.js'

/** How many waits block ranks of a world. */
export const waitsOf = ({ runtimes }: TestWorld) => runtimes.reduce((sum, { waits }) => sum + waits.waits, 0)
