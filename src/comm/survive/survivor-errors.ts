import { describeContext } from '../../calls/matching/call-report.js'
import { RankweaveError } from '../../errors.js'
import type { Fabric } from '../../fabric/fabric.js'
import { ranksText } from '../../messages/process/world-layout.js'
import type { TableContext } from '../table/process-table.js'

/** Returns the error of `agree`, the same at every survivor, when some of them have not acknowledged a loss. */
export function lostMembersError(
  state: Pick<TableContext, 'id' | 'size' | 'runtime'>,
  processes: readonly number[],
  flag: number,
): RankweaveError {
  const { layout } = state.runtime
  const who = processes.map((process) => ranksText(layout, process)).join(', ')
  const are = processes.length === 1 ? 'is' : 'are'
  const message = `agree on ${describeContext(state)}: ${who} ${are} lost, which not every rank has acknowledged; the agreed flag is ${flag}`
  return new RankweaveError('ERR_PEER_LOST', message, { details: { process: processes[0], flag } })
}

/**
 * Returns the error of `shrink` when the process of the survivors' first rank has given the new communicator the name
 * of another one. It is the same at every survivor.
 */
export function repeatedNameError(
  state: Pick<TableContext, 'id' | 'size' | 'runtime'>,
  process: number,
): RankweaveError {
  const who = ranksText(state.runtime.layout, process)
  const message = `shrink on ${describeContext(state)}: ${who} has given the name of another communicator; shrink again`
  return new RankweaveError('ERR_PEER_LOST', message, { details: { process } })
}

/** Returns the error when ranks called `agree` while others called `shrink`. */
export function mixedCallsError(state: Pick<TableContext, 'id' | 'size'>, seq: number): RankweaveError {
  return new RankweaveError(
    'ERR_COLLECTIVE_MISMATCH',
    `${describeContext(state)}: some ranks called agree and others shrink as call #${seq} of the survivors`,
    { details: { seq } },
  )
}

/**
 * Returns the error of calls that cannot complete, the same at every survivor, because ranks that have returned make no
 * calls.
 */
export function returnedError(
  state: Pick<TableContext, 'id' | 'size' | 'runtime'>,
  call: string,
  processes: readonly number[],
  ranks: readonly number[],
): RankweaveError {
  const { layout } = state.runtime
  const who = [
    ...processes.map((process) => ranksText(layout, process)),
    ...ranks.map((rank) => `world rank ${rank}`),
  ]
  const shown = who.length > mostNamed ? [...who.slice(0, mostNamed), `${who.length - mostNamed} more`] : who
  const have = who.length === 1 ? 'has' : 'have'
  return new RankweaveError(
    'ERR_COLLECTIVE_MISMATCH',
    `${call} on ${describeContext(state)}: ${shown.join(', ')} ${have} returned without calling it`,
  )
}

/** The most processes and ranks that an error names. */
const mostNamed = 16

/** Returns the error of a fabric on which no process can decide which one is lost. */
export function noAuthorityError(
  name: string,
  { kind, lossEffect }: Pick<Fabric, 'kind' | 'lossEffect'>,
): RankweaveError {
  return new RankweaveError(
    'ERR_AUTHORITY',
    `${name}: fabric '${kind}' has no authority on failures: a lost process ends the whole world there` +
      (lossEffect === undefined ? '' : ` (${lossEffect})`),
  )
}

/** Returns the error of every operation on a communicator that a rank has revoked. */
export function revokedError(state: Pick<TableContext, 'id' | 'size'>, rank: number): RankweaveError {
  const message = `${describeContext(state)} is revoked: rank ${rank} called revoke`
  return new RankweaveError('ERR_REVOKED', message, { details: { rank } })
}
