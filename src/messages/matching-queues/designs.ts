import {
  integerOption,
  type NamedOptions,
  numberOption,
  type OptionTable,
  wordOption,
} from '../../base/option.js'
import { checkOptions, optionHelp, parsedOptions, withDefaults } from '../../base/option-table.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { ArrayBlocksDesign, entriesOfLine } from './array-blocks.js'
import {
  type ClosingCheck,
  ClusterLists,
  closingChecks,
  heuristicClusters,
  kMeansClusters,
} from './cluster-lists.js'
import { CollectiveQueues, type CollectiveQueuesRule, capRules } from './collective-queues.js'
import {
  countsOfSources,
  type MatchingCounters,
  type MatchingDesign,
  type MatchingElement,
  type MatchingKey,
  type MatchingQueue,
  type ProcessFacts,
  pointToPoint,
  RoutedDesign,
  type SourceCounts,
} from './design.js'
import { HashBinsDesign } from './hash-bins.js'
import { IndexedListsDesign } from './indexed-lists.js'
import { LinkedListDesign } from './linked-list.js'
import {
  DynamicPartners,
  type EdgeRule,
  edgePopulations,
  type PartnerRetry,
  partnerEdges,
  partnerRetries,
  StaticPartners,
} from './partners.js'
import { ListsBySource } from './source-lists.js'

/** The parameters of each design. All have defaults. */
interface DesignParameters {
  readonly list: object
  readonly 'source-lists': object
  readonly bins: {
    /** The number of bins per queue. */
    readonly bins?: number
  }
  readonly index: object
  readonly clusters: {
    readonly method?: 'heuristic' | 'k-means'
    /** The number of clusters of `k-means`. */
    readonly k?: number
    /** The check of `heuristic`. */
    readonly check?: ClosingCheck
  }
  readonly 'partners-static': Partial<EdgeRule>
  readonly 'partners-dynamic': PartnerParameters
  readonly collectives: PartnerParameters &
    Partial<CollectiveQueuesRule> & {
      /** The design for point-to-point messages; the parameters of partners are those of `partners-dynamic`. */
      readonly others?: 'list' | 'partners-dynamic'
    }
  readonly 'array-list': {
    /** The number of entries per block. Default: those that fill 64 bytes. */
    readonly entries?: number
  }
  readonly 'vector-list': {
    /** The number of entries per block. Default: those that fill 32 KiB. */
    readonly entries?: number
    /** The number of entries that are compared together. */
    readonly vector?: number
  }
}

interface PartnerParameters extends Partial<EdgeRule> {
  /** The number of elements in a list of non-partners above which partners are sought: theta. */
  readonly threshold?: number
  /** The number of partners per bucket of a table of sqrt(processes) buckets: c. Default: no bound. */
  readonly slots?: number
  /** The time of the next attempt after one that found no partner. Default: `later`. */
  readonly retry?: PartnerRetry
}

type MatchingDesignName = keyof DesignParameters

/** Everything that depends on the name of a design. */
interface MatchingDesignKind<O extends object> {
  /** A line of help about the design. */
  readonly help: string
  readonly options: OptionTable<O> & NamedOptions
  /** Whether it starts from the counts of an earlier run ({@link ProcessFacts.counts}). */
  readonly needsCounts?: true
  make<E extends MatchingElement>(queue: MatchingQueue, facts: ProcessFacts, options: O): MatchingDesign<E>
}

const edgeOptions = {
  edge: wordOption(partnerEdges, { default: 'average', help: 'count above which a source is a partner' }),
  alpha: numberOption({ least: 0, default: 0, help: 'of upper-fence' }),
  population: wordOption(edgePopulations, { default: 'all', help: 'sources that the edge counts' }),
}

const partnerOptions = {
  ...edgeOptions,
  threshold: integerOption({
    least: 1,
    default: 100,
    help: 'list length above which partners are looked for',
  }),
  slots: integerOption({ least: 1, most: 2 ** 20, computed: 'no bound', help: 'partners per bucket' }),
  retry: wordOption(partnerRetries, {
    default: 'later',
    help: 'after an attempt without partners: as many insertions later as the list is long, or at each',
  }),
}

const binsOptions = { bins: integerOption({ least: 1, most: 2 ** 20, default: 256, help: 'bins per queue' }) }

const clusterOptions = {
  method: wordOption(['heuristic', 'k-means'], { default: 'heuristic', help: 'how sources are clustered' }),
  k: integerOption({ least: 1, most: 2 ** 16, default: 16, help: 'clusters of k-means' }),
  check: wordOption(closingChecks, { default: 'after', help: 'when the heuristic closes a cluster' }),
}

const collectiveOptions = {
  others: wordOption(['list', 'partners-dynamic'], {
    default: 'partners-dynamic',
    help: 'design for point-to-point messages',
  }),
  factor: numberOption({ least: 0, default: 1, help: 'most lists, times sqrt(processes)' }),
  cap: wordOption(capRules, { default: 'clip', help: 'what happens at most lists' }),
  ...partnerOptions,
}

/** The integers of all blocks together stay in one array. */
const mostEntries = 2 ** 16

const entriesOption = (computed: string) =>
  integerOption({ least: 1, most: mostEntries, computed, help: 'entries per block' })

const arrayOptions = { entries: entriesOption('2 receives or 3 messages') }

const vectorOptions = {
  entries: entriesOption('1360 receives or 2048 messages'),
  vector: integerOption({ least: 1, most: 1024, default: 16, help: 'entries that are compared together' }),
}

/** All designs, the baseline first. */
export const matchingDesigns: {
  readonly [Name in MatchingDesignName]: MatchingDesignKind<DesignParameters[Name]>
} = {
  list: {
    help: 'one list, as in MPICH (the baseline)',
    options: {},
    make: () => new LinkedListDesign(),
  },
  'source-lists': {
    help: 'an array with a list per source for each communicator, as in Open MPI',
    options: {},
    make: (_, facts) => new RoutedDesign(new ListsBySource(facts), facts),
  },
  bins: {
    help: 'bins by a hash of context, source and tag',
    options: binsOptions,
    make: (_queue, _facts, options) => new HashBinsDesign(withDefaults(binsOptions, options).bins),
  },
  index: {
    help: 'a list with an index while it is long: the design of this library',
    options: {},
    make: (queue) => new IndexedListsDesign(queue),
  },
  clusters: {
    help: 'a list per cluster of sources, from the counts of an earlier run',
    options: clusterOptions,
    needsCounts: true,
    make(queue, facts, options) {
      const { method, k, check } = withDefaults(clusterOptions, options)
      const counts = countsOfSources(requireCounts('clusters', queue, facts), facts.processes)
      const clusters = method === 'k-means' ? kMeansClusters(counts, k) : heuristicClusters(counts, check)
      return new RoutedDesign(new ClusterLists(clusters), facts)
    },
  },
  'partners-static': {
    help: 'a list per source with many elements, from the counts of an earlier run',
    options: edgeOptions,
    needsCounts: true,
    make(queue, facts, options) {
      const counts = requireCounts('partners-static', queue, facts)
      const rule = withDefaults(edgeOptions, options)
      return new RoutedDesign(new StaticPartners(counts, facts.processes, rule), facts)
    },
  },
  'partners-dynamic': {
    help: 'a list per source with many elements, found while lists overflow',
    options: partnerOptions,
    make: (_, facts, options) => partnersDesign(facts, options),
  },
  collectives: {
    help: 'lists for each collective by what its first calls pass, and a design for other messages',
    options: collectiveOptions,
    make(_, facts, options) {
      const rule = withDefaults(collectiveOptions, options)
      return new SeparateTraffic(
        rule.others === 'list' ? new LinkedListDesign() : partnersDesign(facts, options),
        new RoutedDesign(new CollectiveQueues(facts, rule), facts),
      )
    },
  },
  'array-list': {
    help: 'a list of blocks of entries that fill a cache line',
    options: arrayOptions,
    make: (queue, _, { entries = entriesOfLine(queue) }) =>
      new ArrayBlocksDesign({ queue, entries, group: 1, fields: 'by-entry' }),
  },
  'vector-list': {
    help: 'a list of blocks with an array per field, compared in groups',
    options: vectorOptions,
    make(queue, _, options) {
      const { entries = entriesOfCache[queue], vector } = withDefaults(vectorOptions, options)
      return new ArrayBlocksDesign({ queue, entries, group: vector, fields: 'by-field' })
    },
  },
}

/** Keys of sources stay exact within this bound. */
const processesOption = integerOption({ least: 1, most: 2 ** 22 })

/**
 * The entries of 32 KiB, a multiple of 16.
 *
 * @see Ghazimirsaeed 2019 chapter 6
 */
const entriesOfCache: { readonly [Queue in MatchingQueue]: number } = { posted: 1360, unexpected: 2048 }

export const matchingDesignNames = Object.keys(matchingDesigns) as readonly MatchingDesignName[]

/** A design with its parameters, as a text names it: `clusters:method=k-means,k=8`. */
export type NamedDesign = {
  readonly [Name in MatchingDesignName]: { readonly name: Name; readonly options?: DesignParameters[Name] }
}[MatchingDesignName]

/**
 * Makes a design for one queue of one process.
 *
 * @throws ERR_ARGUMENT for an unknown name, for options that are not its own, and if counts are missing
 */
export function makeMatchingDesign<E extends MatchingElement>(
  { name, options = {} }: NamedDesign,
  queue: MatchingQueue,
  facts: ProcessFacts,
): MatchingDesign<E> {
  const kind = kindOf(name)
  checkOptions(name, kind.options, options)
  if (!processesOption.is(facts.processes))
    throw wrongValue('ERR_ARGUMENT', `expected processes, ${processesOption.expected}`, facts.processes)
  return kind.make<E>(queue, facts, options)
}

/**
 * Parses a design from its text: its name, and after a colon its options, joined by commas.
 *
 * @throws ERR_ARGUMENT
 */
export function parsedMatchingDesign(text: string): NamedDesign {
  const colon = text.indexOf(':')
  const name = colon < 0 ? text : text.slice(0, colon)
  const kind = kindOf(name)
  const options = parsedOptions(
    kind.options,
    colon < 0 ? undefined : text.slice(colon + 1),
    (expected, got) => {
      throw wrongValue('ERR_ARGUMENT', `${name}: expected ${expected}`, got)
    },
  )
  return { name: name as MatchingDesignName, options } as NamedDesign
}

/** The help: a line per design, and one for each of its options. */
export const matchingDesignsHelp = Object.entries(matchingDesigns)
  .flatMap(([name, { help, options }]) => [
    `  ${name}   ${help}`,
    ...Object.entries(options).map(([option, facts]) => `      ${optionHelp(option, facts)}`),
  ])
  .join('\n')

function kindOf(name: string): MatchingDesignKind<object> {
  if (typeof name !== 'string' || !Object.hasOwn(matchingDesigns, name))
    throw wrongValue(
      'ERR_ARGUMENT',
      `expected a matching design among ${matchingDesignNames.join(', ')}`,
      name,
    )
  return matchingDesigns[name as MatchingDesignName] as MatchingDesignKind<object>
}

function requireCounts(
  name: MatchingDesignName,
  queue: MatchingQueue,
  { counts, processes }: ProcessFacts,
): SourceCounts {
  if (counts === undefined)
    throw new RankweaveError('ERR_ARGUMENT', `${name}: expected the counts of an earlier run`)
  for (const row of counts[queue].values())
    if (row.length > processes)
      throw wrongValue('ERR_ARGUMENT', `${name}: expected counts of ${processes} processes`, row.length)
  return counts[queue]
}

function partnersDesign<E extends MatchingElement>(
  facts: ProcessFacts,
  options: PartnerParameters,
): MatchingDesign<E> {
  const { slots = Number.POSITIVE_INFINITY, ...rule } = withDefaults(partnerOptions, options)
  return new RoutedDesign(new DynamicPartners(facts.processes, { ...rule, slots }), facts)
}

/**
 * Two designs side by side, one for point-to-point messages and one for those of collectives. Neither searches the
 * other's elements.
 *
 * @see Ghazimirsaeed 2019 chapter 5 (unified design: COL+LL, COL+PNP)
 */
class SeparateTraffic<E extends MatchingElement> implements MatchingDesign<E> {
  readonly pointToPoint: MatchingDesign<E>
  readonly collective: MatchingDesign<E>

  constructor(pointToPoint: MatchingDesign<E>, collective: MatchingDesign<E>) {
    this.pointToPoint = pointToPoint
    this.collective = collective
  }

  get size(): number {
    return this.pointToPoint.size + this.collective.size
  }

  search(key: MatchingKey): E | undefined {
    return this.#designOf(key).search(key)
  }

  peek(key: MatchingKey): E | undefined {
    return this.#designOf(key).peek(key)
  }

  insert(element: E): void {
    this.#designOf(element).insert(element)
  }

  remove(element: E): void {
    this.#designOf(element).remove(element)
  }

  counters(): MatchingCounters {
    return summedCounters([this.pointToPoint.counters(), this.collective.counters()])
  }

  #designOf({ traffic }: MatchingKey): MatchingDesign<E> {
    return traffic === pointToPoint ? this.pointToPoint : this.collective
  }
}

/** Returns the counters of several queues together: of all ranks of a program, or of both queues of one. */
function summedCounters(all: readonly MatchingCounters[]): MatchingCounters {
  const sum = (name: keyof MatchingCounters) => all.reduce((total, counters) => total + counters[name], 0)
  return {
    searches: sum('searches'),
    traversals: sum('traversals'),
    queues: sum('queues'),
    collectiveQueues: sum('collectiveQueues'),
    levels: sum('levels'),
    partners: sum('partners'),
    overheadBytes: sum('overheadBytes'),
  }
}
