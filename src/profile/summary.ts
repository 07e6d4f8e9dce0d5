import { type CallProfile, type ProcessProfile, type Profile, trafficOf } from './profile.js'

/**
 * The kinds of calls. Calls of the kind `waiting` return when a message or another process has arrived: receives,
 * waits, tests, probes and barriers. They may move data as well. A collective moves data and waits for its last rank:
 * only an additional barrier could separate the two.
 */
export const callKinds = [
  'moving',
  'waiting',
  'collective',
  'neighborhood',
  'one-sided',
  'files',
  'other',
] as const
export type CallKind = (typeof callKinds)[number]

/** The share of time that each means to make a program faster can change at most. */
interface Levers {
  /** Neighborhood collectives by plans. */
  readonly neighborhood: number
  /** Ordinary blocking collectives in other settings. */
  readonly collectives: number
  /** Ranks in other places: all communication. */
  readonly placement: number
  /** `MPI_Alltoallv` and `MPI_Alltoallw`, mostly with counts of zero, that send nothing for these. */
  readonly sparseAlltoall: number
}

/** A profile in short. Shares are of the time between `MPI_Init` and `MPI_Finalize`, added over all ranks. */
export interface ProfileSummary {
  readonly mpi: string
  readonly ranks: number
  readonly nodes: number
  /** The seconds of the slowest rank. */
  readonly seconds: number
  /** The share of time in MPI. */
  readonly inMpi: number
  /** The share of its own time that the rank with the largest share spends in MPI. */
  readonly inMpiOfHeaviest: number
  readonly kinds: Readonly<Record<CallKind, number>>
  /** The largest time outside MPI of a rank, divided by the mean of all ranks; 1 if they are equal. */
  readonly imbalance: number
  /** The functions of all ranks, the longest first. */
  readonly calls: readonly (CallProfile & { readonly share: number })[]
  /** The messages of point-to-point calls and blocks of exchanges, within nodes and between them. */
  readonly traffic: { readonly within: Amount; readonly between: Amount; readonly pairs: number }
  /** The messages of point-to-point calls by size, shortest first; bytes from `from` to less than twice as many. */
  readonly sizes: readonly (Amount & { readonly from: number })[]
  /** The collectives of all ranks by size, the longest first. */
  readonly collectives: readonly CollectiveSummary[]
  readonly levers: Levers
  /** The communicators with a topology for which a rank passed `reorder = 1`, of the rank with most. */
  readonly reorders: number
}

interface Amount {
  readonly messages: number
  readonly bytes: number
}

/** Calls of a collective on communicators of equal size, added over ranks: P ranks make P calls. */
interface CollectiveSummary {
  readonly name: string
  readonly ranks: number
  /** The mean bytes of a call. */
  readonly bytes: number
  readonly calls: number
  readonly seconds: number
  readonly share: number
  /** The share of counts that are zero; null if the collective has no count for each rank. */
  readonly zeros: number | null
}

/** Summarizes a profile. */
export function summaryOf(profile: Profile): ProfileSummary {
  const { mpi, ranks, nodes } = profile
  const processes = profile.processes.map(inOneThread)
  const total = sum(processes, ({ seconds }) => seconds)
  const share = (seconds: number) => (total === 0 ? 0 : seconds / total)
  const calls = callsOf(processes).map((call) => ({ ...call, share: share(call.seconds) }))
  const kinds = Object.fromEntries(
    callKinds.map((kind) => [
      kind,
      share(
        sum(
          calls.filter(({ name }) => kindOf(name) === kind),
          ({ seconds }) => seconds,
        ),
      ),
    ]),
  ) as Record<CallKind, number>
  const outside = processes.map(({ seconds, inMpi }) => Math.max(0, seconds - inMpi))
  const mean = sum(outside, (seconds) => seconds) / ranks
  return {
    ...{ mpi, ranks, nodes: nodes.length, seconds: largest(processes.map(({ seconds }) => seconds)) },
    inMpi: share(sum(processes, ({ inMpi }) => inMpi)),
    inMpiOfHeaviest: largest(processes.map((each) => (each.seconds === 0 ? 0 : each.inMpi / each.seconds))),
    kinds,
    imbalance: mean === 0 ? 1 : largest(outside) / mean,
    calls,
    traffic: trafficByNode(profile),
    sizes: sizesOf(processes),
    collectives: collectivesOf(processes).map((one) => ({ ...one, share: share(one.seconds) })),
    levers: leversOf(mpi, processes),
    reorders: largest(processes.map(({ reorders }) => reorders)),
  }
}

/** Scales the seconds of calls of several threads to those of the thread that is longest in MPI. */
function inOneThread(process: ProcessProfile): ProcessProfile {
  const all = sum(process.calls, ({ seconds }) => seconds)
  if (all <= process.inMpi) return process
  const scaled = <T extends { readonly seconds: number }>(one: T) => ({
    ...one,
    seconds: (one.seconds * process.inMpi) / all,
  })
  return { ...process, calls: process.calls.map(scaled), collectives: process.collectives.map(scaled) }
}

const neighborhoodName = /^MPI_I?[Nn]eighbor_/
const exchangeName = /^MPI_Alltoall[vw]$/
const completionName = /^MPI_(Wait|Test|Request_get_status)/
const collectiveName =
  /^MPI_I?([Bb]cast|[Gg]atherv?|[Ss]catterv?|[Aa]llgatherv?|[Aa]lltoall[vw]?|[Rr]educe|[Aa]llreduce|[Rr]educe_scatter(_block)?|[Ss]can|[Ee]xscan)(_init)?$/
const waitingName = /^MPI_(Recv|Mrecv|I?m?probe|Probe|Mprobe|Wait|Test|Request_get_status|I?[Bb]arrier)/
const oneSidedName = /^MPI_(Win_|Put|Get$|Get_acc|Accumulate|Fetch_|Compare_|Rput|Rget|Raccumulate)/
const movingName = /^MPI_(I?[bsr]?send|[BSR]?send|Send|Irecv|Imrecv|Recv_init|Start|Isendrecv)/

/** Returns the kind of a function by its name in C. */
export function kindOf(name: string): CallKind {
  if (neighborhoodName.test(name)) return 'neighborhood'
  if (collectiveName.test(name)) return 'collective'
  if (/^MPI_File_/.test(name)) return 'files'
  if (oneSidedName.test(name)) return 'one-sided'
  if (name === 'MPI_Recv_init') return 'moving'
  if (waitingName.test(name)) return 'waiting'
  return movingName.test(name) ? 'moving' : 'other'
}

/** The collectives that a tuning file decides for: blocking ones with equal counts. */
const tunedName =
  /^MPI_(Barrier|Bcast|Scatter|Gather|Allgather|Reduce|Allreduce|Reduce_scatter_block|Reduce_scatter|Alltoall|Scan|Exscan)$/

function callsOf(processes: readonly ProcessProfile[]): CallProfile[] {
  const byName = new Map<string, CallProfile>()
  for (const { name, calls, seconds, bytes } of processes.flatMap(({ calls }) => calls)) {
    const before = byName.get(name) ?? { name, calls: 0, seconds: 0, bytes: 0 }
    byName.set(name, {
      name,
      calls: before.calls + calls,
      seconds: before.seconds + seconds,
      bytes: before.bytes + bytes,
    })
  }
  return [...byName.values()].sort((a, b) => b.seconds - a.seconds)
}

function trafficByNode(profile: Profile): ProfileSummary['traffic'] {
  const within = { messages: 0, bytes: 0 }
  const between = { messages: 0, bytes: 0 }
  const { edges } = trafficOf(profile)
  for (const { source, destination, messages, bytes } of edges) {
    const { processes } = profile
    const amount = processes[source].node === processes[destination].node ? within : between
    amount.messages += messages
    amount.bytes += bytes
  }
  return { within, between, pairs: edges.length }
}

function sizesOf(processes: readonly ProcessProfile[]): ProfileSummary['sizes'] {
  const byClass = new Map<number, { messages: number; bytes: number }>()
  for (const [log2, messages, bytes] of processes.flatMap(({ sizes }) => sizes)) {
    const amount = byClass.get(log2) ?? { messages: 0, bytes: 0 }
    amount.messages += messages
    amount.bytes += bytes
    byClass.set(log2, amount)
  }
  return [...byClass]
    .sort(([a], [b]) => a - b)
    .map(([log2, amount]) => ({ from: log2 < 0 ? 0 : 2 ** log2, ...amount }))
}

function collectivesOf(processes: readonly ProcessProfile[]): Omit<CollectiveSummary, 'share'>[] {
  interface Sum {
    name: string
    ranks: number
    bytes: number
    calls: number
    seconds: number
    zeros: number
    counts: number
  }
  const byKey = new Map<string, Sum>()
  for (const one of processes.flatMap(({ collectives }) => collectives)) {
    const { name, ranks } = one
    // Means of one class differ by less than a factor of two.
    const key = `${name} ${ranks} ${one.bytes === 0 ? -1 : Math.floor(Math.log2(one.bytes))}`
    const all = byKey.get(key) ?? { name, ranks, bytes: 0, calls: 0, seconds: 0, zeros: 0, counts: 0 }
    all.bytes += one.bytes * one.calls
    all.calls += one.calls
    all.seconds += one.seconds
    all.zeros += one.zeros
    all.counts += one.counts
    byKey.set(key, all)
  }
  return [...byKey.values()]
    .sort((a, b) => b.seconds - a.seconds)
    .map(({ name, ranks, bytes, calls, seconds, zeros, counts }) => ({
      ...{ name, ranks, bytes: Math.round(bytes / calls), calls, seconds },
      zeros: counts === 0 ? null : zeros / counts,
    }))
}

/**
 * Bounds what each lever can change by the rank that spends the largest share of its time in such calls: others may
 * wait for it in calls of any kind. A call that starts one of them is completed by another, so waits and tests count,
 * too. No lever changes the time outside MPI, which bounds all.
 */
function leversOf(mpi: string, processes: readonly ProcessProfile[]): Levers {
  const longest = largest(processes.map(({ seconds }) => seconds))
  const outside = largest(processes.map(({ seconds, inMpi }) => seconds - inMpi))
  const most = longest === 0 ? 0 : Math.min(1, Math.max(0, 1 - outside / longest))
  const share = (calls: (process: ProcessProfile) => readonly { readonly seconds: number }[]) => {
    const shares = processes.map((process) =>
      process.seconds === 0 ? 0 : sum(calls(process), ({ seconds }) => seconds) / process.seconds,
    )
    return Math.min(most, largest(shares))
  }
  const named = (blocking: RegExp, started: RegExp) =>
    share(({ calls }) => {
      const isStarted = calls.some(({ name }) => started.test(name))
      return calls.filter(({ name }) => blocking.test(name) || (isStarted && completionName.test(name)))
    })
  return {
    neighborhood: named(neighborhoodName, /^MPI_Ineighbor_|^MPI_Neighbor_.*_init$/),
    collectives: share(({ calls }) => calls.filter(({ name }) => tunedName.test(name))),
    placement: share(({ calls }) =>
      calls.filter(({ name }) => kindOf(name) !== 'files' && kindOf(name) !== 'other'),
    ),
    // MPICH itself sends nothing for counts of zero.
    sparseAlltoall: mpi.startsWith('MPICH')
      ? 0
      : share(({ collectives }) =>
          collectives.filter(({ name, zeros, counts }) => exchangeName.test(name) && 2 * zeros > counts),
        ),
  }
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((all, item) => all + value(item), 0)
}

function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0)
}
