import type { Communicator } from '../../comm/communicator.js'
import { describeComm } from '../../comm/describe.js'
import { communicatorText, madeBy } from '../../messages/process/comm-context.js'

/** The most communicators that the report lists; further ones are counted. */
const mostCommunicators = 16

/**
 * Returns the algorithms that carried out the collectives of every communicator that the process of a rank still has:
 * the text of `run --report-algorithms`.
 */
export function algorithmReport(world: Communicator): string {
  const lines = ['algorithms of collectives in the process of rank 0']
  let [shown, more] = [0, 0]
  for (const state of world.seat().state.runtime.contexts) {
    const uses = describeComm(state).collectives
    if (uses.length === 0) continue
    if (++shown > mostCommunicators) {
      more++
      continue
    }
    lines.push(`  ${madeBy(state) ?? `${communicatorText(state)}, the world`}`)
    for (const { collective, algorithm, segments, participants, calls, why } of uses) {
      const how = algorithm ?? 'without a plan'
      const cut = segments > 1 ? `, ${segments} segments` : ''
      const among = participants > 0 ? `, ${participants} participants` : ''
      lines.push(
        `    ${collective}: ${how}${cut}${among}, ${calls} ${calls === 1 ? 'call' : 'calls'} (${why})`,
      )
    }
  }
  if (shown === 0) lines.push('  none: one process has all ranks, or no collective ran')
  if (more > 0) lines.push(`  and ${more} more communicators`)
  return lines.join('\n')
}
