import { type ErrorCode, wrongValue } from '../../errors.js'
import { type Collective, collectives, isNeighborCollective } from '../../schedule/specification.js'

/**
 * An algorithm with its parameters, as a measurement or a decision names it: a method, in the words of the source.
 *
 * @see Pjesivac-Grbovic 2007 §5.1
 */
export interface TuningSetting {
  readonly collective: Collective
  /** The registry's id (`bcast-chain`), or the name in an MPI library (`pipeline`). */
  readonly algorithm: string
  /**
   * The parameters by name, as in the line of text of an algorithm: `{ fanout: 4, segment: 1024 }`; `segment` is in
   * bytes, and absent if the data are not cut.
   */
  readonly parameters: Readonly<Record<string, number>>
}

/** The name of the setting in which nothing is chosen: the library's own behavior. */
export const defaultAlgorithm = 'default'

/**
 * Returns the line of text of a setting, parameters by name: `bcast-chain:fanout=4,segment=1024`. Equal settings of a
 * collective have equal texts, and `parseAlgorithm` reads those of the library's own algorithms.
 */
export function settingLine({ algorithm, parameters }: TuningSetting): string {
  const values = Object.keys(parameters)
    .sort()
    .map((name) => `${name}=${parameters[name]}`)
  return values.length === 0 ? algorithm : `${algorithm}:${values.join(',')}`
}

/** Compares settings in total order: by collective, then by text. The lower one wins every tie. */
export function compareSettings(a: TuningSetting, b: TuningSetting): number {
  return compareWords(a.collective, b.collective) || compareWords(settingLine(a), settingLine(b))
}

/** Compares by code units, so alike on every machine. */
export function compareWords(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The limits of a setting: 8 parameters, integers from 0 to 2^40, a radix from 2. */
const settingLimits = { parameters: 8, value: 2 ** 40, radix: 2 } as const

/** The collectives whose settings can be decided for: all but the ones over a topology. */
export const decidedCollectives: readonly Collective[] = collectives.filter(
  (name) => !isNeighborCollective(name),
)

const algorithmPattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/
const parameterPattern = /^[a-z][A-Za-z0-9_]{0,31}$/

/**
 * Checks the members of a setting that came from a file.
 *
 * @param where the file and line, for messages
 * @throws code for a member that is missing or out of range
 */
export function checkSetting(
  members: Readonly<Record<string, unknown>>,
  where: string,
  code: ErrorCode,
): asserts members is Readonly<Record<string, unknown>> & TuningSetting {
  const { collective, algorithm, parameters } = members
  if (!(decidedCollectives as readonly unknown[]).includes(collective))
    throw wrongValue(code, `${where}: expected collective among ${decidedCollectives.join(', ')}`, collective)
  if (typeof algorithm !== 'string' || !algorithmPattern.test(algorithm))
    throw wrongValue(code, `${where}: expected algorithm as a name of at most 64 characters`, algorithm)
  const { parameters: most, value: mostValue } = settingLimits
  const isObject = typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters)
  if (!isObject || Object.keys(parameters).length > most) {
    const got = isObject ? Object.keys(parameters).length : parameters
    throw wrongValue(code, `${where}: expected parameters as an object of at most ${most}`, got)
  }
  for (const [name, value] of Object.entries(parameters)) {
    if (!parameterPattern.test(name))
      throw wrongValue(code, `${where}: expected names of parameters in camel case`, name)
    const leastValue = name === 'radix' ? settingLimits.radix : 0
    if (!Number.isSafeInteger(value) || value < leastValue || value > mostValue)
      throw wrongValue(
        code,
        `${where}: expected parameter ${name} as an integer from ${leastValue} to ${mostValue}`,
        value,
      )
  }
}

/**
 * The settings among which online tuning chooses, by collective and number (AlgID). Numbers count from 1, in the order
 * of the table. A setting that is added at the end of its collective changes no other number.
 *
 * @see Steiner 2023 §4.4, tables A.1 to A.4
 */
export class NumberedSettings {
  readonly #settings = new Map<Collective, TuningSetting[]>()
  readonly #numbers = new Map<string, number>()

  /** @throws ERR_ARGUMENT for a setting that is there twice */
  constructor(settings: Iterable<TuningSetting>) {
    for (const setting of settings) {
      const ofCollective = this.#settings.get(setting.collective) ?? []
      const key = keyOf(setting)
      if (this.#numbers.has(key))
        throw wrongValue(
          'ERR_ARGUMENT',
          `settings of ${setting.collective}: expected each once`,
          settingLine(setting),
        )
      this.#numbers.set(key, ofCollective.push(setting))
      this.#settings.set(setting.collective, ofCollective)
    }
  }

  /** The collectives that have settings, in the order of the table. */
  get collectives(): readonly Collective[] {
    return [...this.#settings.keys()]
  }

  /** Returns the settings of a collective; number i is at place i - 1. */
  of(collective: Collective): readonly TuningSetting[] {
    return this.#settings.get(collective) ?? []
  }

  /** Returns the number of a setting; 0 if it is not in the table. */
  numberOf(setting: TuningSetting): number {
    return this.#numbers.get(keyOf(setting)) ?? 0
  }

  /** @throws ERR_ARGUMENT for a number that the table does not have */
  settingOf(collective: Collective, number: number): TuningSetting {
    const settings = this.of(collective)
    const setting = settings[number - 1]
    if (setting !== undefined) return setting
    throw wrongValue(
      'ERR_ARGUMENT',
      `settings of ${collective}: expected a number from 1 to ${settings.length}`,
      number,
    )
  }
}

function keyOf(setting: TuningSetting): string {
  return `${setting.collective} ${settingLine(setting)}`
}
