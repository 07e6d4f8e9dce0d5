import type {
  PassedElements,
  PassedTogether,
  SearchCause,
} from '../../messages/matching-queues/search-causes.js'
import { counted, figure } from './reporter.js'

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
export function deepestSearchText(rank: number, cause: SearchCause): string {
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
