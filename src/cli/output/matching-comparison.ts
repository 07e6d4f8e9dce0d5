import type { LinePlot, Plot } from '../../document/document.js'
import { joined, type Picture } from '../../document/picture.js'
import { plotPicture } from '../../document/plot-picture.js'
import type {
  ComparedRank,
  MatchingVerdict,
  PassedElements,
  PassedTogether,
  SearchCause,
  SummedDesign,
} from '../../messages/matching-queues/compare-designs.js'
import { columns, counted, figure, significant } from './result-rows.js'

/** A rank that was compared, and the end of its trace. */
export interface ReportedRank extends ComparedRank {
  readonly file: string
  readonly bounded: boolean
  readonly shortened: boolean
}

/** The most ranks that the report lists, those first whose searches passed most. JSON has all. */
const mostRanks = 16

export function matchingComparisonText(
  ranks: readonly ReportedRank[],
  sums: readonly SummedDesign[],
  verdict: MatchingVerdict,
): string {
  const operations = ranks.reduce((sum, rank) => sum + rank.operations, 0)
  const active = ranks.filter((rank) => rank.operations > 0)
  const listed = active.toSorted((a, b) => passedBy(b) - passedBy(a)).slice(0, mostRanks)
  const lines = [
    `${counted(ranks.length, 'rank', 'ranks')}, ${counted(operations, 'operation', 'operations')}`,
    designTable(sums),
    ...(sums.some(({ stopped }) => stopped)
      ? ['  * its replays were stopped: time and entries are of the operations until then']
      : []),
    ...listed.map(rankText),
    ...(active.length > listed.length
      ? [`and ${counted(active.length - listed.length, 'more rank', 'more ranks')}: --json has all`]
      : []),
    ...(ranks.length > active.length
      ? [`${counted(ranks.length - active.length, 'rank has', 'ranks have')} no operation`]
      : []),
    matchingVerdictText(verdict),
  ]
  return lines.join('\n')
}

function designTable(sums: readonly SummedDesign[]): string {
  const crossoverText = (length: number | null) => (length === null ? 'never' : `length ${figure(length)}`)
  return columns(sums, [
    ['design', ({ design, stopped }) => `${design.name}${stopped ? ' *' : ''}`],
    ['entries per search', perSearch],
    ['ns per operation', ({ nsPerOperation }) => figure(Math.round(nsPerOperation))],
    ['faster than list from', ({ crossover }, i) => (i === 0 ? '' : crossoverText(crossover))],
    ['lists', ({ queues }) => figure(queues)],
    ['levels', ({ levels }) => figure(levels)],
    ['partners', ({ partners }) => figure(partners)],
    ['bytes', ({ overheadBytes }) => figure(overheadBytes)],
  ])
}

function rankText({
  rank,
  operations,
  receives,
  messages,
  matches,
  matchedOperations,
  bounded,
  shortened,
  designs,
  cause,
}: ReportedRank): string {
  const [{ posted, unexpected, countedOperations }] = designs
  const firstOf = (done: number) =>
    done < operations ? ` of the first ${counted(done, 'operation', 'operations')}` : ''
  const end = shortened ? ', the first of its file' : bounded ? ', the first of its run' : ''
  const lines = [
    `rank ${rank}: ${counted(operations, 'operation', 'operations')}${end}; ${counted(receives, 'receive', 'receives')}, ${counted(messages, 'message', 'messages')}, ${figure(matches)} matched${firstOf(matchedOperations)}`,
    ...[['posted receives', posted] as const, ['unexpected messages', unexpected] as const].map(
      ([name, { searches, meanLength, longest, traversals }]) =>
        `  ${name}: ${counted(searches, 'search', 'searches')}${firstOf(countedOperations)}, ${perSearch({ searches, traversals })} entries each in a list; ${figure(meanLength)} long, at most ${figure(longest)}`,
    ),
  ]
  if (cause !== undefined) lines.push(`  worst search: ${deepestSearchText(rank, cause)}`)
  return lines.join('\n')
}

const passedBy = ({ designs: [{ posted, unexpected }] }: ComparedRank) =>
  posted.traversals + unexpected.traversals

const perSearch = ({ searches, traversals }: { readonly searches: number; readonly traversals: number }) =>
  (traversals / Math.max(1, searches)).toFixed(1)

/** Returns the program's gain, the best design, the cause of searches in the program, and a way to change it. */
export function matchingVerdictText(verdict: MatchingVerdict): string {
  const { kind, baseline, openMpi, own, best, fewestPassed, isSelfTrained, worst } = verdict
  const ns = ({ nsPerOperation }: SummedDesign) => `${figure(Math.round(nsPerOperation))} ns`
  const all = `Matching took ${tookText(baseline)} in all by one list and ${tookText(own)} by the index of Rankweave, replayed on this machine: compare it with the time of the run.`
  const cause =
    worst?.cause === undefined
      ? ''
      : `\nCause: ${searchCauseText(worst.rank, worst.cause)}.\nRemedy: ${searchRemedyText(worst.cause)}.`
  const differs =
    fewestPassed.design.name === best.design.name || kind === 'own'
      ? ''
      : ` ${fewestPassed.design.name} passes fewest entries, ${perSearch(fewestPassed)} a search, but takes ${ns(fewestPassed)}.`
  const trained = isSelfTrained
    ? ' clusters and partners-static were trained on the traces that they replayed, so that their gain is a bound: --train takes those of an earlier run.'
    : ''
  const fromList = `${gainText(baseline, own)} one list, the design of MPICH`
  const fromSources = `${gainText(openMpi, own)} a list per source, that of Open MPI`
  switch (kind) {
    case 'none':
      return 'No message was matched: there is nothing to gain.'
    case 'healthy':
      return `${all}\nMatching costs this program nothing worth changing: a list passes ${perSearch(baseline)} entries a search and takes ${ns(baseline)} an operation${best.design.name === baseline.design.name ? ', which no design undercuts' : `, the fastest design, ${best.design.name}, ${ns(best)}`}.${trained}`
    case 'own':
      return `${all}\nMatching by an index is ${fromList}, and ${fromSources}. Rankweave has that index already.${cause}`
    case 'other': {
      const ofSources =
        best.design.name === openMpi.design.name
          ? 'which Open MPI has already'
          : `${gainText(openMpi, best)} a list per source, that of Open MPI`
      return `${all}\nMatching by ${best.design.name} is ${gainText(baseline, best)} one list, the design of MPICH, ${ofSources}, and ${gainText(own, best)} the index of Rankweave. That index is ${fromList}, and ${fromSources}.${differs}${trained}${cause}`
    }
  }
}

/** Returns `54 ms (50 ms of one rank)`; `at least` if a replay was stopped. */
function tookText({ stopped, leastMs, ms, longestRankMs }: SummedDesign): string {
  if (stopped) return `at least ${msText(leastMs)}`
  return longestRankMs < 0.99 * ms ? `${msText(ms)} (${msText(longestRankMs)} of one rank)` : msText(ms)
}

const msText = (ms: number) => (ms < 999.5 ? `${significant(ms)} ms` : `${(ms / 1000).toFixed(1)} s`)

/** Returns `27.1 times as fast as`; a bound or an estimate if replays were stopped. */
function gainText(from: SummedDesign, to: SummedDesign): string {
  const known = to.stopped || !from.stopped
  const gain = (known ? from.ms : from.leastMs) / Math.max(1e-9, to.ms)
  const about = to.stopped ? 'about ' : from.stopped ? 'at least ' : ''
  return gain < 1.05 ? 'no faster than' : `${about}${figure(Number(gain.toFixed(1)))} times as fast as`
}

/** The share of all entries below which a group is named together with similar ones. */
const mostlyOne = 0.5

/** Returns `99% of the entries passed: rank 0 receives from source 2, tags 0 to 799 (communicator 0), newest first`. */
export function searchCauseText(rank: number, cause: SearchCause): string {
  const { queue, source, share, alike } = cause
  const together = share < mostlyOne && alike.distinctSources > 1
  const named = together ? alike : cause
  const from = together ? sourcesText(alike) : source < 0 ? 'any source' : `source ${source}`
  const tags = tagsText(named.tags)
  const where = communicatorText(cause)
  const most = together ? `; ${percent(share)} from ${source < 0 ? 'any source' : `source ${source}`}` : ''
  const what =
    queue === 'posted'
      ? `messages from ${from}, ${tags} ${where}, arrive at rank ${rank}${named.order === 'newest-first' ? ', for the newest receive first' : ''}`
      : `rank ${rank} ${named.isProbe ? 'probes for' : 'receives from'} ${from}, ${tags} ${where}${named.order === 'newest-first' ? ', newest first' : ''}`
  const missing = named.isMissing
    ? queue === 'posted'
      ? ', mostly without a receive'
      : ', mostly before the message is there'
    : ''
  return `${percent(named.share)} of the entries passed: ${what}${missing}${most}`
}

function percent(share: number): string {
  const whole = Math.floor(100 * share)
  return whole === 0 ? 'less than 1%' : `${whole}%`
}

const communicatorText = ({ context, isCollective }: SearchCause) =>
  `(communicator ${context}${isCollective ? ', a collective' : ''})`

const sourcesText = ({ distinctSources, sources: [first, last] }: PassedTogether) =>
  first < 0
    ? `any source and ${counted(distinctSources - 1, 'source', 'sources')}, up to ${last}`
    : `${figure(distinctSources)} sources, ${first} to ${last}`

const tagsText = (tags: PassedTogether['tags']) =>
  tags === undefined ? 'any tag' : tags[0] === tags[1] ? `tag ${tags[0]}` : `tags ${tags[0]} to ${tags[1]}`

/** Describes one receive that waits: `rank 0 receives from source 63, tag 9 while 124 messages of ...`. */
function deepestSearchText(rank: number, cause: SearchCause): string {
  const { queue, deepest } = cause
  const { source, tag, isProbe, found, passed, before } = deepest
  const ahead = found ? passed - 1 : passed
  const what = `${source < 0 ? 'any source' : `source ${source}`}, ${tag < 0 ? 'any tag' : `tag ${tag}`} ${communicatorText(cause)}`
  const of = before === undefined ? '' : passedText(source, before)
  const lie = ahead === 1 ? 'lies' : 'lie'
  return queue === 'unexpected'
    ? `rank ${rank} ${isProbe ? 'probes for' : 'receives from'} ${what} while ${counted(ahead, 'message', 'messages')}${of} ${lie} before ${found ? 'its message' : 'it, none of which matches'}`
    : `a message from ${what} arrives at rank ${rank} while ${counted(ahead, 'receive', 'receives')}${of} ${lie} before ${found ? 'its receive' : 'it, none of which matches'}`
}

function passedText(
  source: number,
  { sources, distinctSources, distinctTags, anySource }: PassedElements,
): string {
  if (sources === undefined) return anySource > 0 ? ' from any source' : ''
  const [first, last] = sources
  const tags = distinctTags > 1 ? ` with ${figure(distinctTags)} tags` : ''
  if (distinctSources === 1)
    return first === source ? ` of the same source${tags}` : ` of source ${first}${tags}`
  return ` of ${figure(distinctSources)} sources, ${first} to ${last},`
}

/** Returns advice on a change of a program by which its costliest searches pass less. */
export function searchRemedyText({
  queue,
  isCollective,
  isProbe,
  isMissing,
  order,
  source,
  deepest,
}: SearchCause): string {
  const { before } = deepest
  const passesOthers =
    before !== undefined &&
    (before.distinctSources > 1 || (before.sources !== undefined && before.sources[0] !== source))
  if (isCollective) return 'receive the messages that wait before the collective starts'
  if (queue === 'posted') {
    if (isMissing) return 'post the receives of these messages, too, or fewer of the others at a time'
    if (order === 'newest-first') return 'post receives in the order in which their messages arrive'
    if (passesOthers)
      return 'post fewer receives at a time, or receive from ANY_SOURCE in the order of arrival'
    return 'post receives later that wait long, or give them another communicator'
  }
  if (isProbe) return 'take messages in the order of arrival, by a matched probe of any source and any tag'
  if (isMissing) return 'post these receives earlier, or first receive the messages that wait'
  if (order === 'newest-first')
    return 'receive in the order of arrival, or post the receives before the messages arrive'
  if (passesOthers)
    return 'post the receives before the messages arrive, or receive from ANY_SOURCE in the order of arrival'
  return 'receive messages earlier that wait long, or give them another communicator'
}

/** Draws the lengths of both queues of one rank over its operations, and below the times of searches by design. */
export function matchingPicture(
  { rank, samples }: Pick<ComparedRank, 'rank' | 'samples'>,
  designs: readonly SummedDesign[],
  title: string,
): Picture {
  const line = (queue: 'posted' | 'unexpected') =>
    samples.map((sample): readonly [number, number] => [sample.operation, sample[queue]])
  const lengths: LinePlot = {
    kind: 'lines',
    name: 'queue-lengths',
    title: `Queues of rank ${rank}, ${title}`,
    origin: 'counted',
    source: 'entries in each queue, by operations of the trace',
    x: { label: 'operations', scale: 'linear' },
    y: { label: 'entries', scale: 'linear' },
    series: [
      { name: 'unexpected messages', points: line('unexpected') },
      { name: 'posted receives', points: line('posted') },
    ],
  }
  const bars = (value: (design: SummedDesign) => number) =>
    designs.map((one) => ({ name: one.design.name, values: [value(one)] }))
  const plots: readonly Plot[] = [
    lengths,
    {
      kind: 'bars',
      name: 'matching-time',
      title: 'Time per operation by design, all ranks',
      origin: 'measured',
      source: 'replays of the traces on this machine',
      unit: 'ns per operation',
      parts: ['time'],
      bars: bars(({ nsPerOperation }) => Math.round(nsPerOperation)),
    },
    {
      kind: 'bars',
      name: 'matching-searches',
      title: 'Entries passed per search by design, all ranks',
      origin: 'counted',
      source: 'replays of the traces',
      unit: 'entries per search',
      parts: ['entries'],
      bars: bars(({ traversals, searches }) => Math.round((100 * traversals) / Math.max(1, searches)) / 100),
    },
  ]
  return joined(plots.map(plotPicture), 'down', 16)
}
