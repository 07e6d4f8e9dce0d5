import { integerOption, type NamedOptions, type Option, wordOption } from '../../base/option.js'
import { withDefaults } from '../../base/option-table.js'
import { longestBlockBytes } from '../../cost/simulate/block-lengths.js'
import { RankweaveError } from '../../errors.js'
import type { Machine } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import { parseAuto } from '../../neighborhood/choose/auto.js'
import type { MapSource } from '../../neighborhood/choose/mapped-topology.js'
import type { UnderstoodRequest } from '../../neighborhood/choose/plan-request.js'
import { type CommonNeighbor, combiningOptions } from '../../neighborhood/strategies/common-neighbor.js'
import {
  kindsWithWords,
  parseStrategyBeside,
  type Strategy,
} from '../../neighborhood/strategies/strategies.js'
import type { NeighborCollective } from '../../schedule/specification.js'
import { friendOptions, groupingEngines, refuseSimulation } from '../../topology/friends/grouping-options.js'

/** The options of a strategy of {@link kindsWithWords} if its text has none. */
export const friendWords = {
  ...friendOptions,
  engine: {
    ...wordOption(groupingEngines, friendOptions.engine),
    // `distributed` is understood, so that its refusal can say what to use instead, but not offered.
    words: groupingEngines.filter((each) => each !== 'distributed'),
    expected: 'one of greedy, improved, exact',
  },
  mode: wordOption(['aware', 'agnostic'], {
    help: 'aware: friends share a node, the default with a machine; agnostic: any ranks are friends',
  }),
  ...combiningOptions,
}

/**
 * The options of a plan that a number or a word gives. An entry is an option of `rankweave plan`, a field of requests
 * over HTTP, and part of the request that the command sends to a service.
 */
export const planOptions = {
  ...friendWords,
  bytes: integerOption({
    ...{ least: 0, most: longestBlockBytes },
    help: 'bytes of every block, for --strategy auto and --compare; with --server at most 2147483647',
  }),
}

/** Returns the name of an option of a plan on the command line and over HTTP; other names are their own. */
export const wordOf = (name: string): string => (planOptions as NamedOptions)[name]?.word ?? name

/** A strategy in the words of a caller; words that the caller left out are undefined. */
interface StrategyWords extends Undefinable<Omit<CommonNeighbor, 'kind' | 'engine'>> {
  readonly strategy: string
  readonly engine?: string | undefined
  readonly machine?: Machine | undefined
}

type Values<Table> = {
  readonly [Name in keyof Table]?: Table[Name] extends Option<infer T> ? T | undefined : never
}
type Undefinable<T> = { readonly [Name in keyof T]?: T[Name] | undefined }

/** A request to `rankweave plan` or the service, in the words of the caller. */
export interface PlanWords extends StrategyWords, Values<Omit<typeof planOptions, keyof typeof friendWords>> {
  /** Whether strategies are compared; absent if the caller has no such word. */
  readonly compare?: boolean
  readonly operation?: NeighborCollective | undefined
  readonly map?: MapSource | undefined
}

/** The words as they are understood. Only the profile of the machine is read, so its nodes need not be laid out. */
type Understandable<Words extends StrategyWords> = Omit<Words, 'machine'> & {
  readonly machine?: Pick<Machine, 'profile'> | undefined
}

/** Returns the caller's spelling of a word: `--bytes` on the command line, `bytes` over HTTP. */
type Spelled = (name: keyof PlanWords) => string

/**
 * Understands a request before anything is built for it.
 *
 * @throws ERR_USAGE for words that are missing, or would have no effect
 * @throws ERR_MACHINE for a comparison on a machine without a profile
 * @throws ERR_STRATEGY as {@link namedStrategy}
 */
export function understand(words: Understandable<PlanWords>, spelled: Spelled): UnderstoodRequest {
  refuseNeedlessFriends(words, spelled)
  const { operation = 'neighbor-allgather', bytes, compare, machine } = words
  const map = mapSource(words, spelled)
  const auto = parseAuto(words.strategy)
  if (auto === null && compare !== true) {
    const users = `${spelled('strategy')} auto${compare === undefined ? '' : ` and ${spelled('compare')}`}`
    if (bytes !== undefined) throw usageError(`${spelled('bytes')} is for ${users}`)
    return { strategy: strategyOf(words, spelled), operation, comparedBytes: null, map }
  }
  const what = auto === null ? spelled('compare') : `${spelled('strategy')} auto`
  if (auto?.bytes !== undefined && bytes !== undefined)
    throw usageError(`${spelled('bytes')}: expected once, got ${bytes} and ${what}:bytes=${auto.bytes}`)
  const comparedBytes = auto?.bytes ?? bytes
  if (machine === undefined) {
    const example = 'cluster:nodes=16,cores=16,profile=simgrid-fast'
    throw usageError(`${what}: expected ${spelled('machine')} with a profile, such as ${example}`)
  }
  if (comparedBytes === undefined)
    throw usageError(`${what}: expected ${spelled('bytes')}, the length of a block`)
  profileOf(machine)
  return { strategy: auto ?? strategyOf(words, spelled), operation, comparedBytes, map }
}

/**
 * Returns the mapping of words that name one; null for others.
 *
 * @throws ERR_USAGE without a machine, whose cores are the slots
 */
function mapSource(
  { map, machine }: Pick<Understandable<PlanWords>, 'map' | 'machine'>,
  spelled: Spelled,
): MapSource | null {
  if (map === undefined) return null
  if (machine !== undefined) return map
  throw usageError(`${spelled('map')}: expected ${spelled('machine')}, on whose cores ranks are placed`)
}

/**
 * Returns the strategy of words that name one.
 *
 * @throws ERR_USAGE for an unknown engine, for aware mode without a machine, and for words that would have no effect
 * @throws ERR_STRATEGY for the engine `distributed`, and for a text that is not a strategy
 */
export function namedStrategy(words: Understandable<StrategyWords>, spelled: Spelled): Strategy {
  refuseNeedlessFriends(words, spelled)
  return strategyOf(words, spelled)
}

function strategyOf(words: Understandable<StrategyWords>, spelled: Spelled): Strategy {
  const { strategy, machine, engine = friendWords.engine.default } = words
  if (!kindsWithWords.includes(strategy)) return parseStrategyBeside(['auto'], strategy)
  const mode = words.mode ?? (machine === undefined ? 'agnostic' : 'aware')
  if (mode === 'aware' && machine === undefined)
    throw usageError(`${spelled('mode')} aware needs ${spelled('machine')}, which defines the nodes`)
  const known = groupingEngines.find((each) => each === engine)
  if (known === undefined)
    throw usageError(`${spelled('engine')}: expected ${friendWords.engine.expected}, got '${engine}'`)
  refuseSimulation(spelled('engine'), known)
  const values: Readonly<Record<string, unknown>> = withDefaults(friendWords, { ...words, mode })
  const friends = Object.keys(friendWords)
    .filter((name) => values[name] !== undefined)
    // A strategy does not name the engine that it would have anyway.
    .filter((name) => name !== 'engine' || known !== friendWords.engine.default)
    .map((name) => [name, values[name]])
  return { kind: strategy, ...Object.fromEntries(friends) } as Strategy
}

/** @throws ERR_USAGE for words of friend groups with a strategy that does not take them */
export function refuseNeedlessFriends(words: Understandable<StrategyWords>, spelled: Spelled): void {
  const { strategy } = words
  if (kindsWithWords.includes(strategy)) return
  for (const name of Object.keys(friendWords) as (keyof typeof friendWords)[]) {
    if (words[name] === undefined) continue
    const option = spelled(name)
    const isThere = kindsWithWords.some((kind) => strategy.startsWith(`${kind}:`))
    const hint = isThere ? ': write it there' : ', not for this strategy'
    const message = `${option} is for ${spelled('strategy')} ${kindsWithWords.join(' or ')}${hint} (${strategy})`
    throw new RankweaveError('ERR_USAGE', message, { details: { option } })
  }
}

function usageError(message: string): RankweaveError {
  return new RankweaveError('ERR_USAGE', message)
}
