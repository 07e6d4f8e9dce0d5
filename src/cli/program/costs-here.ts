import { readFileSync, rmSync } from 'node:fs'
import { cpus, hostname } from 'node:os'
import { join } from 'node:path'
import { sha256 } from '../../base/hash.js'
import { calibratedProfile } from '../../calibrate/calibrated-profile.js'
import { RankweaveError, reasonText } from '../../errors.js'
import type { Origin } from '../../machine/profile.js'
import { formatProfile, parseProfile } from '../../machine/profile-file.js'
import { calibrateLibrary, type LibraryCalibration, steadySpread } from '../../measure/calibrate-library.js'
import { compileMeasuring, startMeasuring } from '../../measure/measuring-job.js'
import { ownVersion } from '../../package-paths.js'
import { keepNewest, keptFolder } from '../../shim/library-cache.js'
import {
  compilerOfCommand,
  type HostPlaces,
  launcherVersion,
  measuringLaunch,
} from '../../shim/mpi-command.js'
import { writeWholeFile } from '../../text/whole-file.js'
import type { MachineInput } from '../input/machine-input.js'
import { temporaryRecordFolder, untilSignal } from './preloaded-run.js'

/**
 * Returns the path of the profile of this machine's costs: those of messages of the MPI whose `mpirun` is on PATH, measured
 * once and kept in `$XDG_CACHE_HOME/rankweave/costs`. Null where they are neither kept nor measurable, as a note says.
 *
 * @param isOfSlurm whether the machine is a job of Slurm, whose nodes `mpirun` knows
 * @param isAgain whether costs that are kept are measured again
 */
export async function costsHere(
  note: (line: string) => void,
  { machine, hosts }: MachineInput,
  isOfSlurm: boolean,
  isAgain: boolean,
): Promise<string | null> {
  const [first, second] = machine.cores
  try {
    const measured = hosts?.slice(0, 2) ?? [hostname()]
    const facts = [measured, launcherVersion(launcher), ownVersion()]
    const key = sha256().update(JSON.stringify(facts)).digest().slice(0, 12)
    const folder = keptFolder('costs')
    if (folder.includes(','))
      throw new RankweaveError('ERR_FILE', `expected a path without commas, got ${folder}`)
    const file = join(folder, `${key}.json`)
    const nodes = second === undefined ? 1 : 2
    // `mpirun` fills the first node of a job of Slurm; of other hosts the first two are named.
    const processes = nodes === 1 ? 2 : isOfSlurm ? first + 1 : 3
    const places =
      isOfSlurm || nodes === 1 ? null : measured.map((host, i): HostPlaces => ({ host, processes: 2 - i }))
    if (isAgain || !isKept(file, key)) {
      await measureCosts(note, { folder, file, key, nodes, processes, places })
      keepNewest(folder, '.json')
    }
    return file
  } catch (error) {
    const isOfSystem = (error as NodeJS.ErrnoException).syscall !== undefined
    if (!(error instanceof RankweaveError) && !isOfSystem) throw error
    note(
      `messages are not measured, so they have no costs; here,profile=NAME gives some: ${reasonText(error)}`,
    )
    return null
  }
}

const launcher = 'mpirun'

const nameOf = (key: string): string => `here-${key}`

/** Whether a file has the costs of a key: it may be missing or damaged. */
function isKept(file: string, key: string): boolean {
  try {
    return parseProfile(readFileSync(file, 'utf8')).name === nameOf(key)
  } catch {
    return false
  }
}

/** The time after which a launcher is taken to hang. */
const longestMs = 120_000

interface Measuring {
  readonly folder: string
  readonly file: string
  readonly key: string
  readonly nodes: 1 | 2
  readonly processes: number
  readonly places: readonly HostPlaces[] | null
}

/** Measures messages inside a node, and between two nodes if there are several, and writes them as a profile. */
async function measureCosts(note: (line: string) => void, measuring: Measuring): Promise<void> {
  const { folder, file, key, nodes, processes, places } = measuring
  note('measuring messages of MPI on this machine; rankweave machine here --again measures them anew')
  const own = temporaryRecordFolder(folder)
  const interrupt = new AbortController()
  const work = async () => {
    const program = compileMeasuring(own, compilerOfCommand([launcher]))
    const launch = measuringLaunch(launcher, processes, places, join(own, 'hosts'))
    const signal = AbortSignal.any([interrupt.signal, AbortSignal.timeout(longestMs)])
    const calibration = await calibrateLibrary(() => startMeasuring(launch, program, signal))
    const { eagerLimitBytes, library, network, spread } = calibration
    if (nodes > 1 && network === null)
      throw new RankweaveError(
        'ERR_MEASUREMENT',
        `expected ${launcher} to start processes on two nodes, got one`,
      )
    const source = `${sourceText(library, nodes === 1 ? 'one node' : 'two nodes')}; ${spreadText(spread)}`
    const label = { name: nameOf(key), source, eagerLimitBytes, isLimitMeasured: true }
    const profile = calibratedProfile(calibration, label)
    const exceptions = { ...profile.exceptions, ...unsteadyFigures(calibration) }
    await writeWholeFile(file, [formatProfile({ ...profile, exceptions })])
    if (spread > steadySpread)
      note(
        `${spreadText(spread)}, as if other work ran: measure again on a quiet machine, rankweave machine here --again`,
      )
  }
  try {
    const noCosts = () => 'so no costs are kept'
    await untilSignal(launcher, noCosts, work, () => interrupt.abort())
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}

function spreadText(spread: number): string {
  return `medians of jobs that differ by up to ${Math.round(100 * spread)}%`
}

/** Returns the figures in which jobs differ too much, each with their range. */
function unsteadyFigures({ node, network }: LibraryCalibration): Readonly<Record<string, Origin>> {
  const levels = Object.entries({ node, network })
  return Object.fromEntries(
    levels.flatMap(([level, costs]) =>
      Object.entries(costs ?? {}).flatMap(([key, { low, high }]): [string, Origin][] => {
        if (high - low <= steadySpread * low) return []
        const [from, to] = [low, high].map((ns) => Number(ns.toPrecision(3)))
        return [
          [
            `levels.${level}.${key}`,
            { provenance: 'measured', source: `unsteady, ${from} to ${to} ns in different jobs` },
          ],
        ]
      }),
    ),
  )
}

function sourceText(library: string, where: string): string {
  const date = new Date().toISOString().slice(0, 10)
  const name = library.split(',')[0].replaceAll(/\s+/g, ' ')
  const processor = cpus()[0]?.model.trim() ?? 'unknown processor'
  return `rankweave ${ownVersion()} machine here, ${date}: ${name} in C, ${where}; ${cpus().length} x ${processor}`
}
