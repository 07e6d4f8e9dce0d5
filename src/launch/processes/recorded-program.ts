import type { Communicator } from '../../comm/communicator.js'
import type { MeasurementSource } from '../../tuning/measurement.js'
import { formatCallFile, type RecordedCommunicator } from '../../tuning/online/call-file.js'
import { communicatorOffset, recordBytes } from '../../tuning/online/call-records.js'
import type { OnlineCommunicator, OnlineProcess } from '../../tuning/online/online-process.js'
import type { UserProgram } from '../../world/user-program.js'

/** Takes the file of a run, on the process of rank 0. */
export type TakeCallFile = (file: Uint8Array) => Promise<void>

/**
 * The same program, whose ranks give what their processes have recorded to rank 0 when they have returned. Ranks that
 * fail give nothing, so a run that fails writes no file.
 *
 * @param take called on the process of rank 0
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

/** What one process has recorded. */
interface ProcessCalls {
  readonly process: number
  readonly communicators: readonly OnlineCommunicator[]
  readonly records: Uint8Array
}

async function gatherCalls(
  world: Communicator,
  source: MeasurementSource,
  take: TakeCallFile,
): Promise<void> {
  const { online, firstRank, process, layout } = world.seat().state.runtime
  if (online === undefined) return
  // Before, other ranks of a process may still call.
  await world.barrier()
  // One rank for each process.
  const own = world.rank === firstRank ? callsOf(online, process) : null
  const all = (await world.gather(own, 0)) as readonly (ProcessCalls | null)[] | null
  if (all === null) return
  const recorded = all.filter((each) => each !== null)
  await take(callFileOf(online, source, recorded, layout.processes))
}

function callsOf({ communicators, records }: OnlineProcess, process: number): ProcessCalls {
  return { process, communicators, records: records.bytes() }
}

/** Processes number communicators in the order in which they use them; in the file they have one number each. */
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
    clock: { name: 'performance.now', tickUs: clockTickUs() },
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

/** The least step of the clock that a thousand readings show. */
function clockTickUs(): number {
  let tick = Number.POSITIVE_INFINITY
  let last = performance.now()
  for (let i = 0; i < 1000; i++) {
    const now = performance.now()
    if (now > last) tick = Math.min(tick, now - last)
    last = now
  }
  return Number.isFinite(tick) ? tick * 1000 : 1000
}
