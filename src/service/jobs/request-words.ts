import type { CompletePlanRequest } from '../../client/protocol/http.js'
import { RankweaveError } from '../../errors.js'
import { parseMachine } from '../../machine/machine-text.js'
import { type PlanWords, type UnderstoodRequest, understand } from '../../neighborhood/choose/plan-request.js'
import { defaultK } from '../../neighborhood/choose/strategy-choice.js'
import { groupingEngines } from '../../topology/friends/grouping-options.js'

const friendOptions = ['k', 'mode', 'theta', 'dedupe', 'elide', 'engine', 'labels'] as const

/**
 * The request with all its defaults written out, so that equal requests are equal texts, and as what planning
 * takes.
 *
 * @throws ERR_USAGE, ERR_STRATEGY, ERR_MACHINE as `rankweave plan`
 */
export function understoodRequest(request: CompletePlanRequest): UnderstoodRequest {
  const { strategy, machine, operation, bytes, k, mode, theta, labels } = request
  const isFriends = strategy === 'common-neighbor'
  const needless = isFriends ? undefined : friendOptions.find((name) => request[name] !== undefined)
  if (needless !== undefined)
    throw new RankweaveError('ERR_USAGE', `${needless}: is for the strategy common-neighbor, got ${strategy}`)
  if (operation !== 'neighbor-allgather' && strategy.startsWith('auto'))
    throw new RankweaveError('ERR_USAGE', `strategy auto: is for neighbor-allgather, not for ${operation}`)
  const words: PlanWords = {
    strategy,
    k: k ?? defaultK,
    mode,
    theta,
    dedupe: request.dedupe ?? true,
    elide: request.elide ?? true,
    engine: engineOf(request.engine),
    labels,
    machine: machine === undefined ? undefined : parseMachine(machine),
    bytes,
    compare: false,
    operation,
  }
  return understand(words)
}

/**
 * Refuses a malformed request where that is cheap to find out: a machine of millions of nodes is left to the
 * worker, so that the event loop is not.
 *
 * @throws as {@link understoodRequest}
 */
export function refuseMalformed(request: CompletePlanRequest): void {
  const isSmall = sizeClaimed(request.machine ?? '') <= 2 ** 20
  understoodRequest(
    isSmall ? request : { ...request, machine: 'cluster:nodes=2,cores=2,profile=simgrid-fast' },
  )
}

/** The product of all numbers in a text: no less than the cores of the machine that it describes. */
export function sizeClaimed(text: string): number {
  return [...text.matchAll(/\d+/g)].reduce((product, [digits]) => product * Math.max(1, Number(digits)), 1)
}

/** What names the plan of a request: equal for equal requests. */
export function canonicalRequest(request: CompletePlanRequest): string {
  const { topology, strategy, machine = null, operation, bytes = null } = request
  const isFriends = strategy === 'common-neighbor'
  const {
    k = defaultK,
    mode,
    theta = null,
    dedupe = true,
    elide = true,
    engine = 'greedy',
    labels = null,
  } = request
  const friends = {
    k,
    mode: mode ?? (machine === null ? 'agnostic' : 'aware'),
    theta,
    dedupe,
    elide,
    engine,
    labels,
  }
  return JSON.stringify({
    ...{ topology, strategy, machine: machine?.trim() ?? null, operation, bytes },
    ...(isFriends ? friends : {}),
  })
}

function engineOf(name = 'greedy') {
  const engine = groupingEngines.find((known) => known === name)
  if (engine !== undefined) return engine
  throw new RankweaveError(
    'ERR_USAGE',
    `engine: expected one of ${groupingEngines.join(', ')}, got '${name}'`,
  )
}
