import { existsSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { allowedProcessors, processorsIn } from '../../base/allowed-processors.js'
import { isRankweaveError, RankweaveError, shown } from '../../errors.js'
import { type MachineInput, readMachine } from '../input/machine-input.js'
import { costsHere } from './costs-here.js'

const here = 'here'

/** Whether a description of a machine is `here`, perhaps with `,profile=NAME` or `,ports=6`. */
export const isHere = (text: string): boolean => /^here(,|$)/.test(text)

/**
 * Returns the text of the machine on which the command runs, in place of `here`: the job of Slurm, the host list of
 * another scheduler, or this host. Unless the text has a profile, the costs are those that {@link costsHere} finds; where
 * there are none, a note says why, and the machine has no costs. Another text stays as it is.
 *
 * @param isAgain whether costs that are kept are measured again
 * @throws ERR_MACHINE for clauses after `here`; ERR_USAGE for a scheduler's host list that names no machine
 */
export async function machineHere(
  note: (line: string) => void,
  text: string,
  isAgain = false,
): Promise<string> {
  if (!isHere(text)) return text
  const clauses = text.slice(here.length)
  const layout = layoutHere(process.env)
  const machine = readHere(layout, clauses)
  if (/,profile=/.test(clauses)) return layout.text + clauses
  const costs = await costsHere(note, machine, layout.text === 'slurm', isAgain)
  return `${layout.text}${costs === null ? '' : `,profile=${costs}`}${clauses}`
}

/** The files in which schedulers other than Slurm name the hosts of a job: PBS, LSF, Grid Engine. */
const hostFiles = ['PBS_NODEFILE', 'LSB_DJOB_HOSTFILE', 'PE_HOSTFILE'] as const

/** The nodes and cores of this job, or of this host. */
interface LayoutHere {
  readonly text: string
  /** The variable of the environment that names the hosts' file. */
  readonly variable: (typeof hostFiles)[number] | null
}

export function layoutHere(environment: Readonly<Record<string, string | undefined>>): LayoutHere {
  if ((environment['SLURM_JOB_NODELIST'] ?? '') !== '') return { text: 'slurm', variable: null }
  for (const variable of hostFiles) {
    const file = environment[variable] ?? ''
    if (file !== '' && !file.includes(',') && existsSync(file)) return { text: `hosts:${file}`, variable }
  }
  return { text: `cluster:cores=${coresOfPackages().join('/')}`, variable: null }
}

/** Reads a layout with the clauses behind `here`. Errors quote what the user wrote, or name the scheduler's file. */
function readHere({ text, variable }: LayoutHere, clauses: string): MachineInput {
  try {
    return readMachine(text + clauses)
  } catch (error) {
    if (!isRankweaveError(error, 'ERR_MACHINE')) throw error
    const { at, reason } = error.details
    if (typeof at === 'number' && at >= text.length && typeof reason === 'string') {
      const place = at - text.length + here.length
      const message = `machine ${shown(here + clauses)}, character ${place + 1}: ${reason}`
      throw new RankweaveError('ERR_MACHINE', message, { details: { at: place }, cause: error })
    }
    if (variable === null) throw error
    throw new RankweaveError('ERR_USAGE', `here: the hosts are those of ${variable}, ${error.message}`, {
      cause: error,
    })
  }
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
