import { nodeProcess } from '../base/node-process.js'
import type { CommRuntime } from '../comm/comm-state.js'
import { RankweaveError } from '../errors.js'
import { hintLine } from '../messages/process/call-sites.js'
import { limited, pointToPointLines, queuedFor, queuedLines, waitsOf } from './diagnosis.js'

/**
 * Returns ERR_UNFINISHED if ranks here have returned and left messages that no receive took, or calls that had not
 * ended, as a forgotten `await` does. O(communicators and mailboxes here), once, at the end of a world that has not
 * failed.
 */
export function unfinishedBusiness(runtimes: readonly CommRuntime[]): RankweaveError | undefined {
  let [messages, receives, collectives] = [0, 0, 0]
  const lines: string[] = []
  for (const state of runtimes.flatMap(({ contexts }) => [...contexts])) {
    const matching = state.openedMatching
    // Receives of the fast path are not in a mailbox yet.
    matching?.short.post()
    const mailboxes = [...(matching?.mailboxes ?? [])]
    const open = mailboxes.flatMap(({ posted, probes }) => [...posted, ...probes])
    receives += open.length
    for (const { arrived } of mailboxes) messages += arrived.size
    const untaken = { one: 'no receive took', several: 'no receive took' }
    lines.push(...queuedLines(queuedFor(state, mailboxes), untaken))
    lines.push(...pointToPointLines(waitsOf(state, open)))
    const calls = state.collectives.describeWaits()
    collectives += calls.length
    lines.push(...calls)
  }
  if (lines.length === 0) return undefined
  const [{ callSites, layout, process }] = runtimes
  const who = layout.processes === runtimes.length ? 'every rank has' : `the ranks of process ${process} have`
  const message = `${who} returned, but messages or calls were left: is an await missing?`
  return new RankweaveError(
    'ERR_UNFINISHED',
    `${message}\n${limited(lines).join('\n')}${hintLine(callSites)}`,
    { details: { messages, receives, collectives } },
  )
}

/** Prints it as a warning of Node. Pages, which have none, get a line on their console. */
export function warnOfUnfinished({ message }: RankweaveError): void {
  if (nodeProcess === undefined) console.warn(message)
  else nodeProcess.emitWarning(message, { type: 'RankweaveWarning', code: 'RANKWEAVE_UNFINISHED' })
}
