import type { Communicator } from '../../comm/communicator.js'
import { describeComm } from '../../comm/describe.js'
import type { MatchingStatistics } from '../../messages/mailboxes/matching-meter.js'
import type { QueueStatistics } from '../../messages/mailboxes/queue-meter.js'
import { defaultMailboxDesign } from '../../messages/matching-queues/mailbox-designs.js'
import { communicatorText, madeBy } from '../../messages/process/comm-context.js'

/** The most ranks that the report lists; further ones are counted. */
const mostRanks = 16

/**
 * Returns the lengths of the queues of the ranks of this process, on every communicator that it still has: the text of
 * `run --report-matching`. Ranks whose searches passed most entries come first.
 */
export function matchingReport(world: Communicator): string {
  const { runtime } = world.seat().state
  const found = [...runtime.contexts]
    .flatMap((state) =>
      (describeComm(state).matching ?? []).map((matching) => ({
        state,
        matching,
        passed: passedBy(matching),
      })),
    )
    .filter(({ matching: { posted, unexpected } }) => posted.searches + unexpected.searches > 0)
  found.sort((a, b) => b.passed - a.passed)
  const lines = [`message matching of process ${runtime.process}`]
  for (const { state, matching } of found.slice(0, mostRanks)) {
    const { rank, design, receives, anySource, anyTag } = matching
    const by = design === defaultMailboxDesign ? '' : `, design ${design}`
    const shares =
      receives === 0
        ? ''
        : `, ${shareText(anySource, receives)} of any source, ${shareText(anyTag, receives)} of any tag`
    lines.push(
      `  rank ${rank} of ${madeBy(state) ?? `${communicatorText(state)}, the world`}${by}: ${receives} receives${shares}`,
    )
    lines.push(`    posted receives:     ${queueText(matching.posted)}`)
    lines.push(`    unexpected messages: ${queueText(matching.unexpected)}`)
  }
  if (found.length === 0) lines.push('  none: no rank here took part in a message')
  if (found.length > mostRanks) lines.push(`  and ${found.length - mostRanks} more`)
  return lines.join('\n')
}

const passedBy = ({ posted, unexpected }: MatchingStatistics) => posted.passed + unexpected.passed

const shareText = (part: number, all: number) => `${((100 * part) / all).toFixed(0)}%`

function queueText({ searches, matches, passed, meanLength, longest, searchMs }: QueueStatistics): string {
  if (searches === 0) return `no search, at most ${longest}`
  const mean = (passed / searches).toFixed(1)
  const us = ((1000 * searchMs) / searches).toFixed(2)
  return `${searches} searches, ${matches} found; ${meanLength.toFixed(1)} long, at most ${longest}; ${mean} entries and ${us} us a search`
}
