import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { cpus, hostname } from 'node:os'
import { join } from 'node:path'
import { allowedProcessors, processorsIn } from '../../base/allowed-processors.js'
import { sha256 } from '../../base/hash.js'
import { isWide } from '../../calibrate/calibrate.js'
import { calibratedProfile } from '../../calibrate/calibrated-profile.js'
import { RankweaveError } from '../../errors.js'
import { formatMachine } from '../../machine/machine-text.js'
import { formatProfile } from '../../machine/profile-file.js'
import { calibrateLibrary } from '../../measure/calibrate-library.js'
import { compileMeasuring, startMeasuring } from '../../measure/measuring-job.js'
import { ownVersion } from '../../package-paths.js'
import { keptFolder } from '../../shim/library-cache.js'
import {
  compilerOfCommand,
  type HostPlaces,
  launcherVersion,
  measuringLaunch,
} from '../../shim/mpi-command.js'
import { writeWholeFile } from '../../text/whole-file.js'
import { readMachine } from '../input/machine-input.js'
import { Interrupted } from '../output/exit-codes.js'

/** Whether a description of a machine is `here`, perhaps with `,profile=NAME` or `,ports=6`. */
export const isHere = (text: string): boolean => /^here(,|$)/.test(text)

/** The runs of every measurement. */
const runs = 9

/**
 * Returns the text of the machine on which the command runs, in place of `here`: the job of Slurm, the host list of
 * another scheduler, or this host. Unless the text has a profile, the costs are those of messages of the MPI whose
 * `mpirun` is on PATH, measured once and kept in `$XDG_CACHE_HOME/rankweave/costs`. Where they cannot be measured, a note
 * says why, and the machine has no costs.
 *
 * @param isAgain whether costs that are kept are measured again
 */
export async function machineHere(
  note: (line: string) => void,
  text: string,
  isAgain = false,
): Promise<string> {
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
  try {
    const facts = [hosts ?? [hostname()], formatMachine(machine), launcherVersion(launcher), ownVersion()]
    const key = sha256().update(JSON.stringify(facts)).digest().slice(0, 12)
    const folder = keptFolder('costs')
    const file = join(folder, `${key}.json`)
    const [first, second] = machine.cores
    // `mpirun` fills the first node of a job of Slurm; of other hosts the first two are named.
    const processes = second === undefined ? 2 : layout === 'slurm' ? first + 1 : 3
    const places =
      layout === 'slurm' || hosts === null || second === undefined
        ? null
        : [
            { host: hosts[0], processes: 2 },
            { host: hosts[1], processes: 1 },
          ]
    if (isAgain || !existsSync(file)) await measureCosts(note, { folder, file, key, processes, places })
    return file
  } catch (error) {
    if (!(error instanceof RankweaveError)) throw error
    note(`messages are not measured, so they have no costs; here,profile=NAME gives some: ${error.message}`)
    return null
  }
}

const launcher = 'mpirun'

interface Measuring {
  readonly folder: string
  readonly file: string
  readonly key: string
  readonly processes: number
  readonly places: readonly HostPlaces[] | null
}

/** Measures messages inside a node, and between two nodes if there are several, and writes them as a profile. */
async function measureCosts(note: (line: string) => void, measuring: Measuring): Promise<void> {
  const { folder, file, key, processes, places } = measuring
  note('measuring messages of MPI on this machine; rankweave machine here --again measures them anew')
  const own = mkdtempSync(join(folder, '.measuring-'))
  const interrupt = new AbortController()
  let signalled: NodeJS.Signals | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    signalled ??= signal
    interrupt.abort()
  }
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const name of signals) process.on(name, onSignal)
  try {
    const program = compileMeasuring(own, compilerOfCommand([launcher]))
    const launch = measuringLaunch(launcher, processes, places, join(own, 'hosts'))
    const job = await startMeasuring(launch, program, interrupt.signal)
    try {
      const calibration = await calibrateLibrary(job, runs)
      await job.end()
      const source = sourceText(job.library, calibration.network === null ? 'one node' : 'two nodes')
      const { eagerLimitBytes } = calibration
      const label = { name: `here-${key}`, source, eagerLimitBytes, isLimitMeasured: true }
      await writeWholeFile(file, [formatProfile(calibratedProfile(calibration, label))])
      const { node, network } = calibration
      if ([node, network].some((costs) => costs !== null && isWide(costs.sendOverheadNs)))
        note('other work ran meanwhile: measure again on a quiet machine, rankweave machine here --again')
    } finally {
      await job.stop()
    }
  } catch (error) {
    if (signalled === undefined) throw error
    throw new Interrupted(signalled, new RankweaveError('ERR_MEASUREMENT', 'interrupted: no costs are kept'))
  } finally {
    for (const name of signals) process.off(name, onSignal)
    rmSync(own, { recursive: true, force: true })
  }
}

function sourceText(library: string, where: string): string {
  const date = new Date().toISOString().slice(0, 10)
  const name = library.split(',')[0].replaceAll(/\s+/g, ' ')
  const processor = cpus()[0]?.model.trim() ?? 'unknown processor'
  return `rankweave ${ownVersion()} machine here, ${date}: ${name} in C, ${where}; ${cpus().length} x ${processor}`
}
