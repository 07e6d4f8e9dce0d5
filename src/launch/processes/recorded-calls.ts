import { join } from 'node:path'
import { clockName, clockUs } from '../../base/clock.js'
import { isRankweaveError, reasonText } from '../../errors.js'
import type { Communicator } from '../../handles/communicator.js'
import { writeWholeFile } from '../../text/whole-file.js'
import type { MeasurementSource } from '../../tuning/measured/measurement.js'
import { formatCallFile, type RecordedCommunicator } from '../../tuning/online/call-file.js'
import { communicatorOffset, recordBytes } from '../../tuning/online/call-records.js'
import type { OnlineCommunicator, OnlineProcess } from '../../tuning/online/online-process.js'
import type { UserProgram } from '../../world/user-program.js'

/** Takes the file of a run, on the process of rank 0, or of the first one that lives. */
type TakeCallFile = (file: Uint8Array) => Promise<void>

/**
 * Wraps a program so that ranks that have returned give the records of their processes to rank 0, or to the first one
 * that lives. Ranks that fail give nothing, so a run that fails writes no file.
 *
 * @param take called on the process of that rank
 */
export function recordedProgram<T, A>(
  { main, hosted }: UserProgram<T, A>,
  source: MeasurementSource,
  take: TakeCallFile,
): UserProgram<T, A> {
  const recorded: UserProgram<T, A> = {
    main: async (world, args) => {
      const value = await main(world, args)
      await gatherCalls(world, source, take)
      return value
    },
  }
  if (hosted === undefined) return recorded
  return {
    ...recorded,
    hosted: async (worlds, args) => {
      const values = await hosted(worlds, args)
      await Promise.all(worlds.map((world) => gatherCalls(world, source, take)))
      return values
    },
  }
}

/** The records of one process. */
interface ProcessCalls {
  readonly process: number
  readonly communicators: readonly OnlineCommunicator[]
  readonly records: Uint8Array
}

/** The most losses during the gathering that are survived. */
const mostTries = 3

/**
 * Gives the records of this rank's process to the process of the first rank that lives. It never fails a rank that has
 * returned: if it is not possible, the run has no file.
 */
async function gatherCalls(
  world: Communicator,
  source: MeasurementSource,
  take: TakeCallFile,
): Promise<void> {
  // The seat is also valid in a world that was revoked.
  const { state, rank } = world.seatToFree()
  const { online, fabric, firstRank, process: own, layout, lostPeers, acknowledgements } = state.runtime
  if (online === undefined) return
  const lost = [...lostPeers]
  // The program has not survived the loss, so the world fails.
  if (lost.length > 0 && !acknowledgements.cover(lost)) return
  try {
    // The first rank of each process gives its records.
    const ownCalls = () => (rank === firstRank ? callsOf(online, own) : null)
    const all = await gatheredCalls(world, ownCalls, fabric.authority !== undefined)
    if (all === null) return
    const recorded = all.filter((each) => each !== null)
    await take(callFileOf(online, source, recorded, layout.processes))
  } catch (error) {
    if (!isRankweaveError(error)) throw error
    // A process that is lost itself does not know what the others write.
    const isOwn = error.code === 'ERR_PEER_LOST' && error.details['process'] === own
    if (rank === firstRank && error.code !== 'ERR_WORLD_ENDED' && !isOwn) warnOfLostCalls(error)
  }
}

type GatheredCalls = readonly (ProcessCalls | null)[]

/**
 * Gathers the records of all processes on the first rank; null on others.
 *
 * @param ownCalls returns the records that this rank gives
 * @param canSurvive whether the world can continue without lost processes: then all ranks agree whether it has worked
 */
async function gatheredCalls(
  world: Communicator,
  ownCalls: () => ProcessCalls | null,
  canSurvive: boolean,
): Promise<GatheredCalls | null> {
  const gather = async (comm: Communicator): Promise<GatheredCalls | null> => {
    // Other ranks of a process may still call before this point.
    await comm.barrier()
    return (await comm.gather(ownCalls(), 0)) as GatheredCalls | null
  }
  if (!canSurvive) return gather(world)
  let comm = world
  for (let tries = 0; tries < mostTries; tries++) {
    let all: GatheredCalls | null | undefined
    try {
      all = await gather(comm)
    } catch (error) {
      if (!isRankweaveError(error, 'ERR_PEER_LOST') && !isRankweaveError(error, 'ERR_REVOKED')) throw error
      await comm.revoke()
    }
    const hasWorked = await comm.agree(all === undefined ? 0 : 1).catch(() => 0)
    if (hasWorked === 1) return all!
    comm = await comm.shrink()
  }
  return null
}

function callsOf({ communicators, records }: OnlineProcess, process: number): ProcessCalls {
  return { process, communicators, records: records.bytes() }
}

/**
 * Makes the file. Processes number communicators in the order in which they use them; in the file they have one number
 * each.
 */
function callFileOf(
  { options, logic }: OnlineProcess,
  source: MeasurementSource,
  recorded: readonly ProcessCalls[],
  processes: number,
): Uint8Array {
  const places = new Map<number, number>()
  const communicators: RecordedCommunicator[] = []
  const records = new Map<number, Uint8Array>()
  for (const { process, communicators: own, records: bytes } of recorded) {
    for (const { key, ...shape } of own) {
      if (places.has(key)) continue
      places.set(key, communicators.length)
      communicators.push({ id: communicators.length, ...shape })
    }
    records.set(
      process,
      renumbered(
        bytes,
        Uint32Array.from(own, ({ key }) => places.get(key)!),
      ),
    )
  }
  const header = {
    ...{ source, mode: logic.name, model: options.model?.checksum ?? '', seed: options.seed, processes },
    clock: { name: clockName, tickUs: clockTickUs() },
    ...{ settings: options.settings, communicators },
  }
  return formatCallFile(header, records)
}

function renumbered(bytes: Uint8Array, places: Uint32Array): Uint8Array {
  const copy = bytes.slice()
  const view = new DataView(copy.buffer)
  for (let at = communicatorOffset; at < copy.byteLength; at += recordBytes)
    view.setUint32(at, places[view.getUint32(at, true)], true)
  return copy
}

/** Returns the least step of the clock that a thousand readings show. */
function clockTickUs(): number {
  let tick = Number.POSITIVE_INFINITY
  let last = clockUs()
  for (let i = 0; i < 1000; i++) {
    const now = clockUs()
    if (now > last) tick = Math.min(tick, now - last)
    last = now
  }
  return Number.isFinite(tick) ? tick : 1000
}

/** The ending of names of files in which runs write their calls. */
export const callFileEnding = '.calls'

/**
 * Writes the file of a run: whole, or not at all. Two runs never write one file. If it cannot be written, the run warns
 * and still has its results.
 */
export async function writeCallFile(folder: string, file: Uint8Array): Promise<void> {
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-')
  const path = join(folder, `run-${time}-${crypto.randomUUID().slice(0, 8)}${callFileEnding}`)
  try {
    await writeWholeFile(path, file)
  } catch (error) {
    warnOfLostCalls(error)
  }
}

/** Warns that a run has its results, but no file. */
function warnOfLostCalls(error: unknown): void {
  process.emitWarning(`the calls of this run are not recorded: ${reasonText(error)}`, {
    type: 'RankweaveWarning',
    code: 'RANKWEAVE_CALLS',
  })
}
