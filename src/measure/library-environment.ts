import { RankweaveError } from '../errors.js'
import type { Collective } from '../schedule/specification.js'
import { algorithmVariable, type LibraryKind } from './library-algorithms.js'

/** The values of control variables under which settings are in effect, and the default is the library's choice. */
const required: Readonly<Record<LibraryKind, Readonly<Record<string, string>>>> = {
  'Open MPI': { coll_tuned_use_dynamic_rules: '1', coll_tuned_dynamic_rules_filename: '' },
  MPICH: {
    // Variables decide for each collective; other values use the device for all of them or for none.
    MPIR_CVAR_DEVICE_COLLECTIVES: '2',
    MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE: '',
    MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE: '',
    MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE: '',
  },
}

/** The components of Open MPI that take collectives before `tuned` does if their priority is higher. */
const rivals = ['acoll', 'adapt', 'fca', 'han', 'hcoll', 'ml', 'portals4', 'sm', 'ucc', 'xhc'] as const

/**
 * Checks that a job carries out the settings of its orders, and that its default is the library's own choice. An
 * environment, a file of parameters or the launcher may have set control variables that prevent it. Open MPI prefers a
 * file of rules to the algorithm of a variable, and ignores both if rules are off.
 *
 * @param read returns the value of a control variable in the job as text, or null if the library has none of that name
 * @throws ERR_MEASUREMENT with the name of the variable, the required and the actual value
 */
export async function requireOwnChoice(
  kind: LibraryKind,
  collectives: readonly Collective[],
  read: (variable: string) => Promise<string | null>,
): Promise<void> {
  const unforced = collectives.map((collective) => [algorithmVariable(kind, collective), '0'] as const)
  for (const [name, expected] of [...Object.entries(required[kind]), ...unforced]) {
    const value = await read(name)
    if (value !== null && value !== expected) throw presetVariable(kind, name, `'${expected}'`, value)
  }
  if (kind !== 'Open MPI') return
  const tuned = await read('coll_tuned_priority')
  if (tuned === null) return
  for (const rival of rivals) {
    const name = `coll_${rival}_priority`
    const value = await read(name)
    if (value !== null && Number(value) > Number(tuned))
      throw presetVariable(kind, name, `at most ${tuned} as that of tuned`, value)
  }
}

/** The places where the variable may have been set. */
const places: Readonly<Record<LibraryKind, (name: string) => string>> = {
  'Open MPI': (name) =>
    `OMPI_MCA_${name} in the environment, ${name} in files of MCA parameters, and --mca in --launch`,
  MPICH: (name) => `${name} in the environment and in --launch`,
}

function presetVariable(kind: LibraryKind, name: string, expected: string, value: string): RankweaveError {
  const message = `expected control variable ${name} to be ${expected}, without which settings are not in effect`
  return new RankweaveError('ERR_MEASUREMENT', `${message}, got '${value}'; look for ${places[kind](name)}`)
}
