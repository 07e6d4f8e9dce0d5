import { requireKnownOptions, requireOptions, requireText } from '../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../base/option.js'
import { shortened } from '../errors.js'
import { printable } from '../text/printable.js'
import { expandHosts, type HostMachine, mostHosts } from './host-list.js'
import type { ClusterMachine } from './machine.js'
import { nodesOf } from './nodes.js'
import { failMachine, type Profile } from './profile.js'

export interface SlurmOptions {
  /** The unit that becomes a core: a task of the job, or a processor given to it. Default: tasks if they are set. */
  readonly by?: 'tasks' | 'cpus'
  readonly profile?: Profile | null
}

export interface SlurmEnvironment {
  readonly SLURM_JOB_NODELIST?: string | undefined
  readonly SLURM_TASKS_PER_NODE?: string | undefined
  readonly SLURM_JOB_CPUS_PER_NODE?: string | undefined
}

const knownOptions: OptionTable<SlurmOptions> = uncheckedOptions('by', 'profile')

/**
 * Returns the machine of a Slurm job from its environment: nodes of `SLURM_JOB_NODELIST` (`n[001-003,7],gpu1`), their
 * cores from `SLURM_TASKS_PER_NODE` (`16(x3),8`) or `SLURM_JOB_CPUS_PER_NODE`. Ranks are placed as `srun
 * --distribution=block` does.
 *
 * @param environment such as `process.env`
 * @throws ERR_MACHINE outside of a job, and for values that are malformed or of different numbers of nodes
 */
export function machineFromSlurm(environment: SlurmEnvironment, options: SlurmOptions = {}): HostMachine {
  requireOptions('machineFromSlurm', environment)
  requireKnownOptions('machineFromSlurm', options, knownOptions)
  const { by, profile = null } = options
  const list = environment.SLURM_JOB_NODELIST
  if (list === undefined || list === '')
    failMachine('expected SLURM_JOB_NODELIST, as in a job of Slurm, got none')
  requireText('SLURM_JOB_NODELIST', list)
  const hosts = expandHosts(list)
  const isByTasks = by === undefined ? environment.SLURM_TASKS_PER_NODE !== undefined : by === 'tasks'
  const variable = isByTasks ? 'SLURM_TASKS_PER_NODE' : 'SLURM_JOB_CPUS_PER_NODE'
  const counts = environment[variable]
  if (counts === undefined) return failMachine(`expected ${variable}, as in a job of Slurm, got none`)
  requireText(variable, counts)
  const runs = runsOf(variable, counts)
  const nodes = runs.reduce((sum, run) => sum + run.nodes, 0)
  if (nodes !== hosts.length)
    failMachine(
      `${variable} '${shortened(counts)}': expected ${hosts.length} nodes, as SLURM_JOB_NODELIST has, got ${nodes}`,
    )
  const machine: ClusterMachine = { kind: 'cluster', ...nodesOf(runs), profile }
  return { machine, hosts }
}

/** Reads `16(x3),8`. */
function runsOf(variable: string, text: string): { nodes: number; packages: number[] }[] {
  let at = 0
  return text.split(',').map((part) => {
    const match = /^(\d+)(?:\(x(\d+)\))?$/.exec(part)
    const nodes = Number(match?.[2] ?? 1)
    if (match === null || nodes < 1 || nodes > mostHosts)
      return failMachine(
        printable(
          `${variable} '${shortened(text)}', character ${at + 1}: expected '16' or '16(x3)', got '${part}'`,
        ),
        { at },
      )
    at += part.length + 1
    return { nodes, packages: [Number(match[1])] }
  })
}
