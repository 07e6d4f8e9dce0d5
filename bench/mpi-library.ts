import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** An MPI of this machine, by which baselines are compiled and run. */
export interface MpiLibrary {
  readonly name: 'Open MPI' | 'MPICH'
  readonly mpicc: string
  readonly mpirun: string
  /** Name and version. */
  readonly version: string
  readonly env: Readonly<Record<string, string>>
  /** Arguments of mpirun. */
  flags(placing: Placing): readonly string[]
}

export interface Placing {
  readonly processes: number
  /** Whether each process is bound to its own core. */
  readonly bound: boolean
}

export type MpiName = MpiLibrary['name']

/** The MPIs and their flags: explicit, but what each library chooses on one machine by itself. */
const known: readonly (Omit<MpiLibrary, 'version' | 'mpicc' | 'mpirun'> & {
  readonly suffix: string
  readonly packages: string
  versionIn(said: string): string | undefined
})[] = [
  {
    name: 'Open MPI',
    suffix: '.openmpi',
    packages: 'libopenmpi-dev openmpi-bin',
    versionIn: (said) => /Open(?: MPI|RTE)\)? v?(\S+)/.exec(said)?.[1],
    env: { OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' },
    // Open MPI's own matching over shared memory.
    flags: ({ processes, bound }) => [
      ...['--mca', 'pml', 'ob1', '--mca', 'btl', 'self,vader', '--bind-to', bound ? 'core' : 'none'],
      ...(processes <= 2 ? [] : ['--oversubscribe', '--mca', 'mpi_yield_when_idle', '1']),
    ],
  },
  {
    name: 'MPICH',
    suffix: '.mpich',
    packages: 'libmpich-dev mpich',
    versionIn: (said) => /Version:\s+(\S+)/.exec(said)?.[1],
    env: {},
    flags: ({ bound }) => ['-launcher', 'fork', '-bind-to', bound ? 'core' : 'none'],
  },
]

/** The installed MPI of that name, or the reason why it is missing. */
export function findMpi(name: MpiName): MpiLibrary | { readonly missing: string } {
  const { suffix, packages, versionIn, env, flags } = known.find((one) => one.name === name)!
  // Debian's name where both MPIs are installed, else the name without suffix.
  const command = (word: string) => (onPath(word + suffix) ? word + suffix : word)
  const mpirun = command('mpirun')
  if (!onPath(mpirun)) return { missing: `mpicc or mpirun is missing: apt-get install ${packages}` }
  const said = execFileSync(mpirun, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const version = versionIn(said)
  if (version === undefined) return { missing: `${mpirun} is not of ${name}: ${said.split('\n')[0]}` }
  return { name, mpicc: command('mpicc'), mpirun, version: `${name} ${version}`, env, flags }
}

function onPath(command: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(`${folder}/${command}`))
}
