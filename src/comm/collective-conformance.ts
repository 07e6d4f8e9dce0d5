import type { ConformanceCase } from '../fabric/conformance.js'
import type { FabricFactory } from '../fabric/fabric.js'
import { collectiveChecks } from './collective-checks.js'
import type { Communicator } from './communicator.js'
import { run } from './run.js'

/** All of {@link collectiveConformance} as one program, for fabrics whose processes load their program. */
export async function runCollectiveChecks(world: Communicator): Promise<void> {
  const layouts = await layoutsOf(world)
  let slot = 1
  for (const { check } of collectiveChecks) await onLayouts(layouts, () => slot++, check)
  await onLayouts(layouts, () => (slot += collectiveChecks.length), allAtOnce)
}

/**
 * The collectives as cases to run on any fabric, under any test runner or none. Every rank compares what it gets with
 * an oracle that knows nothing of processes, so passing on two layouts means the same bits on both.
 *
 * Each collective runs on the world, on its ranks reversed, dealt like cards (no two neighbors on one process) and on
 * its odd and even halves, with blocks of 0, 1 and more elements.
 */
export function collectiveConformance(factory: FabricFactory, ranks: number): readonly ConformanceCase[] {
  const single = collectiveChecks.map(({ name, check }) => ({
    name,
    run: () => runAll(factory, ranks, (comm, slot, length) => check(comm, slot, length)),
  }))
  const concurrent: ConformanceCase = {
    name: 'all collectives at once, started without awaiting',
    run: () => runAll(factory, ranks, allAtOnce),
  }
  return [...single, concurrent]
}

const lengths = [0, 1, 5]

type Check = (comm: Communicator, slot: number, length: number) => Promise<void>

const allAtOnce: Check = async (comm, slot, length) => {
  await Promise.all(collectiveChecks.map(({ check }, i) => check(comm, slot + i, length)))
}

async function runAll(factory: FabricFactory, ranks: number, check: Check): Promise<void> {
  await run(
    async (world: Communicator) => {
      let slot = 1
      await onLayouts(await layoutsOf(world), () => slot++, check)
    },
    { ranks, fabric: factory },
  )
}

async function onLayouts(
  layouts: readonly Communicator[],
  nextSlot: () => number,
  check: Check,
): Promise<void> {
  for (const comm of layouts) for (const length of lengths) await check(comm, nextSlot(), length)
}

async function layoutsOf(world: Communicator): Promise<Communicator[]> {
  const { rank, size } = world
  const stride = Math.max(1, Math.floor(Math.sqrt(size)))
  return [
    world,
    await world.split(0, -rank),
    await world.split(0, (rank % stride) * size + rank),
    await world.split(rank % 2, rank),
  ]
}
