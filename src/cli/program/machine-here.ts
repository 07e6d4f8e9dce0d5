import { existsSync, readFileSync, rmSync } from 'node:fs'
import { cpus, hostname } from 'node:os'
import { join } from 'node:path'
import { allowedProcessors, processorsIn } from '../../base/allowed-processors.js'
import { sha256 } from '../../base/hash.js'
import { isWide } from '../../calibrate/calibrate.js'
import { calibratedProfile } from '../../calibrate/calibrated-profile.js'
import { RankweaveError, reasonText } from '../../errors.js'
import { formatProfile, parseProfile } from '../../machine/profile-file.js'
import { calibrateLibrary } from '../../measure/calibrate-library.js'
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
import { readMachine } from '../input/machine-input.js'
import { temporaryRecordFolder, untilSignal } from './preloaded-run.js'

/** Whether a description of a machine is `here`, perhaps with `,profile=NAME` or `,ports=6`. */
export const isHere = (text: string): boolean => /^here(,|$)/.test(text)

/** The runs of every measurement. */
const runs = 9

/**
 * Returns the text of the machine on which the command runs, in place of `here`: the job of Slurm, the host list of
 * another scheduler, or this host. Unless the text has a profile, the costs are those of messages of the MPI whose
 * `mpirun` is on PATH, measured once and kept in `$XDG_CACHE_HOME/rankweave/costs`. Where they cannot be measured, a note
 * says why, and the machine has no costs. Another text stays as it is.
 *
 * @param isAgain whether costs that are kept are measured again
 */
export async function machineHere(
  note: (line: string) => void,
  text: string,
  isAgain = false,
): Promise<string> {
  if (!isHere(text)) return text
  const clauses = text.slice('here'.length)
  const layout = layoutHere(process.env)
  if (/,profile=/.test(clauses)) return layout + clauses
  const costs = await costsHere(note, layout, isAgain)
  return `${layout}${costs === null ? '' : `,profile=${costs}`}${clauses}`
}

/** The files in which schedulers other than Slurm name the hosts of a job: PBS, LSF, Grid Engine. */
const hostFiles = ['PBS_NODEFILE', 'LSB_DJOB_HOSTFILE', 'PE_HOSTFILE'] as const

/** Returns the text of the nodes and cores of this job, or of this host. */
export function layoutHere(environment: Readonly<Record<string, string | undefined>>): string {
  if ((environment['SLURM_JOB_NODELIST'] ?? '') !== '') return 'slurm'
  for (const name of hostFiles) {
    const file = environment[name] ?? ''
    if (file !== '' && !file.includes(',') && existsSync(file)) return `hosts:${file}`
  }
  return `cluster:cores=${coresOfPackages().join('/')}`
}

/** Returns the cores of every package of this host whose hardware threads this process may use. */
function coresOfPackages(): readonly number[] {
  const cores = new Map<string, Set<string>>()
  const processors = processorsIn(allowedProcessors())
  for (const processor of processors) {
    const [packageId, core] = ['physical_package_id', 'core_id'].map((name) => {
      const file = `/sys/devices/system/cpu/cpu${processor}/topology/${name}`
      return existsSync(file) ? readFileSync(file, 'utf8').trim() : null
    })
    // Where the kernel does not describe a hardware thread, it counts as a core.
    const own = packageId ?? '0'
    cores.set(own, (cores.get(own) ?? new Set()).add(core ?? `thread ${processor}`))
  }
  const counts = Array.from(cores.values(), ({ size }) => size)
  return counts.length === 0 ? [Math.max(1, cpus().length)] : counts
}

/** Returns the path of the profile of this machine's costs; null where they are neither kept nor measurable. */
async function costsHere(
  note: (line: string) => void,
  layout: string,
  isAgain: boolean,
): Promise<string | null> {
  const { machine, hosts } = readMachine(layout)
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
    const processes = nodes === 1 ? 2 : layout === 'slurm' ? first + 1 : 3
    const places =
      layout === 'slurm' || nodes === 1
        ? null
        : measured.map((host, i): HostPlaces => ({ host, processes: 2 - i }))
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
    const job = await startMeasuring(launch, program, signal)
    try {
      const calibration = await calibrateLibrary(job, runs)
      const { eagerLimitBytes, network, node } = calibration
      if (nodes > 1 && network === null)
        throw new RankweaveError(
          'ERR_MEASUREMENT',
          `expected ${launcher} to start processes on two nodes, got one`,
        )
      const source = sourceText(job.library, nodes === 1 ? 'one node' : 'two nodes')
      const label = { name: nameOf(key), source, eagerLimitBytes, isLimitMeasured: true }
      await writeWholeFile(file, [formatProfile(calibratedProfile(calibration, label))])
      if ([node, network].some((costs) => costs !== null && isWide(costs.sendOverheadNs)))
        note('other work ran meanwhile: measure again on a quiet machine, rankweave machine here --again')
      await job.end()
    } finally {
      await job.stop()
    }
  }
  try {
    const noCosts = () => 'so no costs are kept'
    await untilSignal(launcher, noCosts, work, () => interrupt.abort())
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}

function sourceText(library: string, where: string): string {
  const date = new Date().toISOString().slice(0, 10)
  const name = library.split(',')[0].replaceAll(/\s+/g, ' ')
  const processor = cpus()[0]?.model.trim() ?? 'unknown processor'
  return `rankweave ${ownVersion()} machine here, ${date}: ${name} in C, ${where}; ${cpus().length} x ${processor}`
}
