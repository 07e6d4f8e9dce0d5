import { requireKnownOptions, requireOptions } from '../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../base/option.js'
import { type ErrorCode, isRankweaveError, reasonText } from '../errors.js'
import type { FabricFactory } from '../fabric/fabric.js'
import type { Communicator } from '../handles/communicator.js'
import { type Main, run } from '../launch/run.js'
import { formatMachine } from '../machine/machine-text.js'
import type { MailboxDesign } from '../messages/process/matching-options.js'
import { ownModule } from '../package-paths.js'
import { algorithmChecks } from './algorithm-checks.js'
import { collectiveChecks } from './collective-checks.js'
import { formChecks } from './collective-forms.js'
import { communicatorChecks } from './communicator-checks.js'
import type { ConformanceCase } from './fabric-conformance.js'
import { hostedChecks } from './hosted-checks.js'
import { flowChecks, matchingChecks } from './matching-checks.js'
import { messageChecks } from './message-checks.js'
import { neighborChecks } from './neighbor-checks.js'
import { networkAlgorithmChecks } from './network-algorithm-checks.js'
import { reorderChecks } from './reorder-checks.js'
import type { CaseContext, HostedCase, WorldCase, WorldSetting } from './world-case.js'
import { type ExpectedFabric, expectedFabric } from './world-case.js'
import { endingChecks, worldChecks } from './world-checks.js'

export interface ConformanceOptions {
  /** The number of ranks of every world. */
  readonly ranks: number
  /** The properties that the fabric must have. Default: what the factory declares. */
  readonly expected?: Partial<ExpectedFabric>
  /** The seed of everything random. Default 1. */
  readonly seed?: number
  /**
   * The number of times that random cases are drawn anew. Every round takes another part of the graphs, layouts and
   * lengths; three take all of them. Default 1.
   */
  readonly rounds?: number
  /** Whether messages of 256 MiB are sent; they take 1 GiB of memory in all. Default false: the largest has 8 MiB. */
  readonly large?: boolean
  /**
   * Whether cases share worlds if they can, for fabrics that take long to start one. Default false: each has its own.
   */
  readonly sharedWorlds?: boolean
  /** The design of the matching queues of all worlds, unless a case chooses one. Default: `index`. */
  readonly matchingDesign?: MailboxDesign
}

const knownOptions: OptionTable<ConformanceOptions> = uncheckedOptions(
  ...(['ranks', 'expected', 'seed', 'rounds', 'large', 'sharedWorlds', 'matchingDesign'] as const),
)

/** The cases that one world is started for; sent to its processes unchanged. */
export interface ConformanceArgs {
  readonly names: readonly string[]
  readonly context: CaseContext
}

/**
 * Returns the guarantees of a world, as cases to run on any fabric, under any test runner or none. They cover messages
 * and their matching, collectives, communicators, neighborhoods, counters, and how worlds end. Every rank compares its
 * results with an oracle that does not depend on processes, so passing on two layouts means the same bits on both.
 *
 * A case starts worlds by `run`. If every process calls `run` itself (MPI), run the same cases with the same options,
 * in the same order, in every process.
 */
export function collectiveConformance(
  factory: FabricFactory,
  options: ConformanceOptions,
): readonly ConformanceCase[] {
  requireOptions('collectiveConformance', factory)
  requireKnownOptions('collectiveConformance', options, knownOptions)
  const context = contextOf(factory, options)
  const named = (cases: readonly AnyCase[], name: string, setting: WorldSetting, fails?: ErrorCode) => {
    const given = { ...withDesign(setting, options.matchingDesign), isHosted: isHosted(cases[0]) }
    return {
      name,
      run: () => runWorld(factory, { names: cases.map((each) => each.name), context }, given, fails),
    }
  }
  const shared = new Map<string, { setting: WorldSetting; cases: AnyCase[] }>()
  const own: ConformanceCase[] = []
  for (const each of [...allCases, ...hostedChecks]) {
    const fails = isHosted(each) ? undefined : each.fails
    for (const setting of each.settings ?? [{}]) {
      const suffix = settingText(setting)
      if (options.sharedWorlds !== true || fails !== undefined) {
        own.push(named([each], each.name + suffix, setting, fails))
        continue
      }
      const key = `${isHosted(each) ? ' of hosted programs' : ''}${suffix}`
      const group = shared.get(key) ?? { setting, cases: [] }
      group.cases.push(each)
      shared.set(key, group)
    }
  }
  const together = [...shared].map(([key, { setting, cases }]) =>
    named(cases, `${cases.length} cases on one world${key}`, setting),
  )
  return [...together, ...own]
}

type AnyCase = WorldCase | HostedCase

function isHosted(each: AnyCase): each is HostedCase {
  return 'hosted' in each
}

/**
 * Runs all cases that can share a world, except those of hosted programs, on a world that runs already. The world may
 * be that of a program of `rankweave run`, or started in any other way. Collective. Cases for other eager limits or
 * credits run under those of the world.
 *
 * @returns the names of the cases, all of which hold
 * @throws Error of the first case that fails, with its name
 */
export async function checkWorld(
  world: Communicator,
  expected: ExpectedFabric,
  options: Omit<ConformanceOptions, 'ranks' | 'expected' | 'sharedWorlds' | 'matchingDesign'> = {},
): Promise<readonly string[]> {
  const names = allCases.filter(({ fails }) => fails === undefined).map(({ name }) => name)
  const context = contextOf(expected, { ...options, ranks: world.size, expected })
  await checkCases(world, { names, context })
  return names
}

/** The cases that every world must pass, on any fabric. A case is identified by its name. */
export const allCases: readonly WorldCase[] = [
  ...worldChecks,
  ...messageChecks,
  ...matchingChecks,
  ...flowChecks,
  ...collectiveChecks,
  ...algorithmChecks,
  ...networkAlgorithmChecks,
  ...formChecks,
  ...communicatorChecks,
  ...neighborChecks,
  ...reorderChecks,
  ...endingChecks,
]

const largestBytes = 256 * 2 ** 20

const usualLargestBytes = 8 * 2 ** 20

/** Runs the named cases on a world, one after the other, each on its own communicator. */
export async function checkCases(world: Communicator, { names, context }: ConformanceArgs): Promise<void> {
  for (const name of names) {
    const found = allCases.find((each) => each.name === name)
    if (found === undefined) throw new Error(`expected the name of a case, got '${name}'`)
    if (found.fails !== undefined) {
      await found.check(world, context)
      continue
    }
    const comm = await world.dup()
    try {
      await found.check(comm, context)
    } catch (error) {
      throw described(error, `${name} (seed ${context.seed}, rank ${world.rank})`)
    }
    await comm.free()
  }
}

/** Runs the named cases of hosted programs, for all ranks of this process. */
export async function checkHostedCases(
  worlds: readonly Communicator[],
  { names, context }: ConformanceArgs,
): Promise<undefined> {
  for (const name of names) {
    const found = hostedChecks.find((each) => each.name === name)
    if (found === undefined) throw new Error(`expected the name of a case of hosted programs, got '${name}'`)
    const comms = await Promise.all(worlds.map((world) => world.dup()))
    try {
      await found.hosted(comms, context)
    } catch (error) {
      throw described(error, `${name} (seed ${context.seed}, ranks from ${worlds[0].rank})`)
    }
    await Promise.all(comms.map((comm) => comm.free()))
  }
}

function withDesign(setting: WorldSetting, design: MailboxDesign | undefined): WorldSetting {
  return design === undefined ? setting : { ...setting, matching: { design, ...setting.matching } }
}

function contextOf(
  factory: Pick<FabricFactory, 'kind' | 'processes' | 'ranksPerProcess'>,
  { ranks, expected, seed = 1, rounds = 1, large = false }: ConformanceOptions,
): CaseContext {
  const { ranksPerProcess } = factory
  return {
    expected: {
      ...expectedFabric(factory, expected),
      ranks,
      ...(ranksPerProcess === undefined ? {} : { ranksPerProcess }),
    },
    seed,
    rounds,
    largeBytes: large ? largestBytes : usualLargestBytes,
  }
}

async function runWorld(
  factory: FabricFactory,
  args: ConformanceArgs,
  { isHosted, ...setting }: WorldSetting & { readonly isHosted: boolean },
  fails: ErrorCode | undefined,
): Promise<void> {
  // Functions cannot be sent to threads and processes; elsewhere the loaded one is used.
  const main: Main<void, ConformanceArgs> | URL =
    factory.needsModule === true ? ownModule('conformance/program') : checkCases
  const hosted = isHosted && (factory.needsModule === true || checkHostedCases)
  const { ranks } = args.context.expected
  const world = run(main, { ranks, fabric: factory, args, hosted, ...setting })
  if (fails === undefined) {
    await world
    return
  }
  const error: unknown = await world.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!isRankweaveError(error, fails)) throw described(error, `expected the world to fail with ${fails}, got`)
}

/** Returns a setting as text. Cases with equal texts share a world if they may. */
function settingText(setting: WorldSetting): string {
  const { matching = {}, machine, tuning, ...others } = setting
  const given = Object.entries(others).map(([name, value]) => `${name} ${value}`)
  if (tuning !== undefined) given.push('by a tuning file')
  if (machine !== undefined) given.push(`on ${formatMachine(machine)}`)
  if (matching.count === true) given.push('matching counted')
  if (matching.design !== undefined) given.push(`matching by ${matching.design}`)
  return given.length === 0 ? '' : ` (${given.join(', ')})`
}

function described(error: unknown, what: string): Error {
  const given = isRankweaveError(error) ? `${error.code}: ${error.message}` : reasonText(error)
  return new Error(`${what}: ${given}`, { cause: error })
}
