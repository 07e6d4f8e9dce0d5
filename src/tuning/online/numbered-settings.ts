import { wrongValue } from '../../errors.js'
import type { Collective } from '../../schedule/specification.js'
import { settingLine, type TuningSetting } from '../settings/setting.js'

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
