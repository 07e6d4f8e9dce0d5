import { hostname } from 'node:os'
import { deserialize, serialize } from 'node:v8'
import { sha256 } from '../base/hash.js'
import { givenOptions } from '../base/option-table.js'
import { type ErrorCode, isRankweaveError, RankweaveError, reasonText } from '../errors.js'
import type { MpiFactory, MpiSession } from '../fabric/mpi/mpi.js'
import type { Machine } from '../machine/machine.js'
import { machineFacts } from '../machine/machine-text.js'
import { decodeError, encodeError } from '../messages/process/error-record.js'
import { worldLayout } from '../messages/process/world-layout.js'
import type { OnlineOptions } from '../tuning/online/online-process.js'
import { hostUntilEmpty } from '../world/empty-loop.js'
import type { UserProgram } from '../world/user-program.js'
import { hostSession, type WorldOptions } from '../world/world.js'
import { notCloneable } from './processes/hosted-part.js'
import { onlineChecksum, requireLearnedOn } from './processes/load-online.js'
import { withCallRecords } from './processes/optional-parts.js'
import { endGraceMs, maxErrorBytes } from './processes/process-protocol.js'
import type { Launcher } from './processes/session-launcher.js'
import { hostHere, loadRequested } from './processes/session-launcher.js'

/** The kinds of reports of a process when every rank has returned. */
const answer = { results: 0, error: 1 } as const

/** Launches on the processes that an MPI launcher has started, each of which makes this same call. */
export const launchMpi: Launcher = (factory, request) => {
  const loading = loadRequested(request)
  const { tuning } = request
  // Sessions open in the order of the calls of `run`, however long their programs load.
  const ready = Promise.all([loading, tuning])
  const opened = (factory as MpiFactory).openAfter(ready)
  // Each promise is awaited later, and may reject before.
  for (const early of [ready, opened]) early.catch(() => {})
  return hostHere(request, loading, async (program, world) => {
    const session = await opened
    const { tuning: file, online } = (await tuning) ?? {}
    const text = file?.checksum ?? (online && onlineChecksum(online))
    await requireSame(session, 'tuning file', 'ERR_TUNING_MISMATCH', text)
    await requireSame(
      session,
      'machine',
      'ERR_MACHINE_MISMATCH',
      world.machine && machineChecksum(world.machine),
    )
    const agreed = online && (await agreedOnline(session, online))
    const tuned = { ...world, ...givenOptions({ tuning: file, online: agreed }) }
    return runMpi(session, await withCallRecords(program, agreed), tuned)
  })
}

/**
 * Returns the options of online tuning with the seed of process 0. All processes call it, and fail alike.
 *
 * @throws ERR_TUNING for a model of another machine than that of process 0; the session is closed then
 */
async function agreedOnline(session: MpiSession, online: OnlineOptions): Promise<OnlineOptions> {
  const text = await session.textOfFirst(JSON.stringify([online.seed, hostname()]))
  const [seed, machine] = JSON.parse(text) as readonly [number, string]
  try {
    requireLearnedOn(online, machine)
  } catch (error) {
    await session.close()
    throw error
  }
  return { ...online, seed }
}

const machineChecksum = (machine: Machine): string =>
  sha256().update(machineFacts(machine)).digest().slice(0, 16)

/**
 * Compares the options for the whole world that each process of a job was given. All of them call it, and fail alike.
 *
 * @param checksum undefined if this process was given none
 * @throws the code when they differ; the session is closed then
 */
async function requireSame(
  session: MpiSession,
  what: string,
  code: ErrorCode,
  checksum: string | undefined,
): Promise<void> {
  const all = await session.textsOfAll(checksum ?? '')
  const other = all.findIndex((text) => text !== all[0])
  if (other < 0) return
  await session.close()
  const named = (text: string) => (text === '' ? 'none' : `one with checksum ${text}`)
  const message = `expected one ${what} on all processes: process 0 has ${named(all[0])}, process ${other} ${named(all[other])}`
  throw new RankweaveError(code, message, { details: { process: other } })
}

/**
 * Runs this process's part of a world whose processes an MPI launcher has started.
 *
 * @returns on process 0 the values of all ranks, in rank order; on others those of the ranks hosted there
 */
async function runMpi<T, A>(
  session: MpiSession,
  program: UserProgram<T, A>,
  world: WorldOptions<A>,
): Promise<T[]> {
  session.retain()
  let timer: NodeJS.Timeout | undefined
  const onFailed = (error: unknown) => {
    timer ??= setTimeout(() => abortJob(session, error), endGraceMs)
  }
  let results: T[]
  try {
    results = await hostUntilEmpty({ ...world, onFailed }, (options) =>
      hostSession(session, program, options),
    )
  } catch (error) {
    // The world has ended in agreement, and the other processes gather the results.
    if (isRankweaveError(error, 'ERR_UNFINISHED')) return gather(session, error, world)
    session.free()
    throw error
  } finally {
    clearTimeout(timer)
  }
  return gather(session, results, world)
}

/**
 * Aborts the job because some process does not take part in ending the world: it computes without end, or waits in a
 * system call.
 */
function abortJob(session: MpiSession, error: unknown): never {
  console.error(
    `rankweave: process ${session.job.process} aborts the job: the world has failed, and not all processes have ` +
      `ended it within ${endGraceMs / 1000} s: ${reasonText(error)}`,
  )
  return session.job.abort(3)
}

/**
 * Gathers the results of all ranks on process 0.
 *
 * @param results of this process, or the error that it has in their place, which it throws
 */
async function gather<T, A>(
  session: MpiSession,
  results: T[] | RankweaveError,
  world: WorldOptions<A>,
): Promise<T[]> {
  const { process, nodes } = { process: session.job.process, nodes: session.nodes }
  const { firstRank } = worldLayout(world.ranks, nodes, world.ranksPerProcess)
  let mine: Uint8Array
  try {
    mine = results instanceof RankweaveError ? failed(results) : tagged(answer.results, serialize(results))
  } catch (cause) {
    results = notCloneable(results as T[], firstRank[process], serialize, cause)
    mine = failed(results)
  }
  const parts = await session.collect(mine)
  if (results instanceof RankweaveError) throw results
  if (parts === undefined) return results
  return parts.flatMap((part, p) => {
    if (part[0] === answer.error) throw decodeError(part.subarray(1))
    return p === process ? results : (deserialize(part.subarray(1)) as T[])
  })
}

const failed = (error: RankweaveError) => tagged(answer.error, encodeError(error, maxErrorBytes))

function tagged(tag: number, bytes: Uint8Array): Uint8Array {
  const all = new Uint8Array(bytes.byteLength + 1)
  all[0] = tag
  all.set(bytes, 1)
  return all
}
