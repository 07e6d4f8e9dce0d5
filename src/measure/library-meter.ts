import { RankweaveError, wrongValue } from '../errors.js'
import type { Collective } from '../schedule/specification.js'
import type { ElementType } from '../tuning/measured/measurement.js'
import { defaultAlgorithm, settingLine, type TuningSetting } from '../tuning/settings/setting.js'
import { isReduction, type TuningCall } from '../tuning/settings/tuning-call.js'
import { largestSpread, membersOf, type PlacedSpread, spreadText } from './grid.js'
import {
  algorithmVariable,
  type LibraryAlgorithms,
  type LibraryKind,
  libraryAlgorithms,
  libraryName,
  librarySettings,
  settingVariables,
} from './library-algorithms.js'
import type { MeasuringJob } from './measuring-job.js'
import type { CallVerdict, Meter } from './meter.js'

interface LibraryMeterOptions {
  readonly machine: string
  readonly collectives: readonly Collective[]
  readonly elementType: ElementType
  /** The lengths of segments in bytes; 0 for whole data. */
  readonly segments: readonly number[]
}

interface LibraryMeter extends Meter {
  readonly spread: PlacedSpread
  /** The collectives whose algorithms the library does not name: only its default is measured. */
  readonly unnamed: readonly Collective[]
}

const verdicts: readonly CallVerdict[] = ['right', 'wrong', 'refused']

/**
 * Measures an MPI library's own algorithms in a job of {@link startMeasuring}.
 *
 * @throws ERR_MEASUREMENT for a library that is neither Open MPI nor MPICH, and for a job whose control variables keep
 *   settings from taking effect ({@link requireOwnChoice})
 */
export async function libraryMeter(job: MeasuringJob, options: LibraryMeterOptions): Promise<LibraryMeter> {
  const { machine, collectives, elementType } = options
  const library = libraryName(job.library)
  if (library === null)
    throw wrongValue('ERR_MEASUREMENT', 'expected a job of Open MPI or MPICH', job.library)
  const { kind, version } = library
  await requireOwnChoice(kind, collectives, (name) => variableOf(job, name))
  const algorithms = new Map<Collective, LibraryAlgorithms>()
  for (const collective of collectives) {
    const described = await job.ask(`describe ${algorithmVariable(kind, collective)}`)
    algorithms.set(collective, libraryAlgorithms(described))
  }
  const spread = largestSpread(job.nodes)
  const order = async (text: string): Promise<void> => {
    const answer = await job.ask(text)
    if (answer !== 'ok') throw unexpected(text, answer)
  }
  let spreadNow = ''
  let ids = new Map<string, number>()
  const idOf = (setting: TuningSetting) => ids.get(settingLine(setting))!
  return {
    source: { kind: 'mpi', name: `${kind} ${version}`, machine },
    isComputed: false,
    spread,
    unnamed: collectives.filter((collective) => algorithms.get(collective)!.size === 0),
    algorithms: (collective) => [defaultAlgorithm, ...algorithms.get(collective)!.keys()],
    settings: (call) => librarySettings(kind, algorithms.get(call.collective)!, call, options),
    async begin(call, settings) {
      const members = membersOf(spread, call)
      if (spreadNow !== spreadText(call)) await order(`spread ${members.join(' ')}`)
      spreadNow = spreadText(call)
      await order(`call ${call.collective} ${typeOf(call, elementType)} ${call.bytes}`)
      ids = new Map(settings.map((setting, id) => [settingLine(setting), id]))
      for (const setting of settings) {
        const variables = settingVariables(kind, algorithms.get(call.collective)!, setting)
        const words = Object.entries(variables).map(([name, value]) => ` ${name}=${value}`)
        await order(`setting ${idOf(setting)}${words.join('')}`)
      }
    },
    async verify(setting) {
      const answer = await job.ask(`verify ${idOf(setting)}`)
      const verdict = verdicts.find((word) => word === answer)
      if (verdict === undefined) throw unexpected('verify', answer)
      return verdict
    },
    async time(setting, repetitions) {
      const answer = await job.ask(`time ${idOf(setting)} ${repetitions}`)
      const [word, ...times] = answer.split(' ')
      const us = times.map(Number)
      if (word !== 'times' || us.length !== 2 * repetitions || !us.every(Number.isFinite))
        throw unexpected('time', answer)
      return { callUs: us.slice(0, repetitions), barrierUs: us.slice(repetitions) }
    },
    end: () => order('done'),
  }
}

/** Returns a control variable as text, or null if the library has none of that name. */
async function variableOf(job: MeasuringJob, name: string): Promise<string | null> {
  const answer = await job.ask(`read ${name}`)
  if (answer === 'none') return null
  if (!answer.startsWith('value ')) throw unexpected(`read ${name}`, answer)
  return answer.slice('value '.length)
}

function typeOf({ collective }: TuningCall, elementType: ElementType): string {
  return isReduction(collective) ? elementType : 'byte'
}

function unexpected(order: string, answer: string): RankweaveError {
  return wrongValue('ERR_MEASUREMENT', `expected an answer of the measured job to '${order}'`, answer)
}

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
