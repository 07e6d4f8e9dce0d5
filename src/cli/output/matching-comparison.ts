import type {
  ComparedRank,
  MatchingVerdict,
  SummedDesign,
} from '../../messages/matching-designs/compare-designs.js'
import type { SearchCause } from '../../messages/matching-designs/search-causes.js'
import { columns, counted, figure } from './reporter.js'

/** A rank that was compared, and where its trace ends. */
export interface ReportedRank extends ComparedRank {
  readonly file: string
  readonly bounded: boolean
  readonly shortened: boolean
}

/** Ranks that the report lists, those first whose searches passed most. JSON has all. */
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
      ? ['  * its replays were stopped: time and entries are those until then']
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
  const head = [
    'design',
    'entries per search',
    'ns per operation',
    'faster than list from',
    'lists',
    'levels',
    'partners',
    'bytes',
  ]
  return columns([
    head,
    ...sums.map(({ design, searches, traversals, nsPerOperation, stopped, crossover, ...of }, i) => [
      `${design.name}${stopped ? ' *' : ''}`,
      perSearch({ searches, traversals }),
      figure(Math.round(nsPerOperation)),
      i === 0 ? '' : crossover === null ? 'never' : `length ${figure(crossover)}`,
      ...[of.queues, of.levels, of.partners, of.overheadBytes].map(figure),
    ]),
  ])
}

function rankText({
  rank,
  operations,
  receives,
  messages,
  matches,
  bounded,
  shortened,
  designs,
  cause,
}: ReportedRank): string {
  const [{ posted, unexpected }] = designs
  const end = shortened ? ', the first of its file' : bounded ? ', the first of its run' : ''
  const lines = [
    `rank ${rank}: ${counted(operations, 'operation', 'operations')}${end}; ${counted(receives, 'receive', 'receives')}, ${counted(messages, 'message', 'messages')}, ${figure(matches)} matched`,
    ...[['posted receives', posted] as const, ['unexpected messages', unexpected] as const].map(
      ([name, { searches, meanLength, longest, traversals }]) =>
        `  ${name}: ${counted(searches, 'search', 'searches')}, ${perSearch({ searches, traversals })} entries each in a list; ${figure(meanLength)} long, at most ${figure(longest)}`,
    ),
  ]
  if (cause !== undefined) lines.push(`  worst search: ${searchCauseText(rank, cause)}`)
  return lines.join('\n')
}

const passedBy = ({ designs: [{ posted, unexpected }] }: ComparedRank) =>
  posted.traversals + unexpected.traversals

const perSearch = ({ searches, traversals }: { readonly searches: number; readonly traversals: number }) =>
  (traversals / Math.max(1, searches)).toFixed(1)

/** Which receive waits for which sender: `rank 0 receives from source 63, tag 9 while 124 messages of ...`. */
export function searchCauseText(
  rank: number,
  { queue, context, isCollective, source, tag, found, passed, before }: SearchCause,
): string {
  const what = `${source < 0 ? 'any source' : `source ${source}`}, ${tag < 0 ? 'any tag' : `tag ${tag}`}`
  const where = `communicator ${context}${isCollective ? ', a collective' : ''}`
  const ahead = found ? passed - 1 : passed
  const of = sourcesText(source, before)
  return queue === 'unexpected'
    ? `rank ${rank} posts a receive from ${what} (${where}) while ${counted(ahead, 'message', 'messages')}${of} ${ahead === 1 ? 'lies' : 'lie'} before ${found ? 'its message' : 'it, none of which matches'}`
    : `a message from ${what} (${where}) arrives at rank ${rank} while ${counted(ahead, 'receive', 'receives')}${of} ${ahead === 1 ? 'lies' : 'lie'} before ${found ? 'its receive' : 'it, none of which matches'}`
}

function sourcesText(
  source: number,
  { sources, distinctSources, distinctTags, anySource }: SearchCause['before'],
): string {
  if (sources === undefined) return anySource > 0 ? ' from any source' : ''
  const [first, last] = sources
  const tags = distinctTags > 1 ? ` with ${figure(distinctTags)} tags` : ''
  if (distinctSources === 1)
    return first === source ? ` of the same source${tags}` : ` of source ${first}${tags}`
  return ` of ${figure(distinctSources)} sources, ${first} to ${last},`
}

/** What the program would gain, with which design, and what in the program causes it. */
export function matchingVerdictText({
  kind,
  baseline,
  own,
  best,
  fewestPassed,
  worst,
}: MatchingVerdict): string {
  const ns = ({ nsPerOperation }: SummedDesign) => `${figure(Math.round(nsPerOperation))} ns`
  const times = (from: SummedDesign, to: SummedDesign) =>
    `${(from.ms / Math.max(1e-9, to.ms)).toFixed(1)} times`
  const cause = worst?.cause === undefined ? '' : ` Cause: ${searchCauseText(worst.rank, worst.cause)}.`
  const differs =
    fewestPassed.design.name === best.design.name
      ? ''
      : ` ${fewestPassed.design.name} passes fewest entries, ${perSearch(fewestPassed)} a search, but takes ${ns(fewestPassed)}.`
  switch (kind) {
    case 'none':
      return 'No message was matched: there is nothing to gain.'
    case 'healthy':
      return `Matching costs this program nothing worth changing: a list passes ${perSearch(baseline)} entries a search and takes ${ns(baseline)} an operation${best.design.name === baseline.design.name ? ', which no design undercuts' : `, the fastest design, ${best.design.name}, ${ns(best)}`}.`
    case 'own': {
      const is =
        best.design.name === own.design.name
          ? 'is the fastest'
          : `is as fast as the fastest, ${best.design.name}`
      return `In an MPI library with one list this program would gain ${times(baseline, own)} in matching by an index: ${ns(own)} an operation instead of ${ns(baseline)}. Rankweave has that index already, which ${is}.${differs}${cause}`
    }
    case 'other':
      return `This program would gain ${times(own, best)} in matching by ${best.design.name}: ${ns(best)} an operation instead of ${ns(own)} by the index of Rankweave and ${ns(baseline)} by one list.${differs}${cause}`
  }
}
