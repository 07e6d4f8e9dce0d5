import type { CellClass } from '../study/document.js'
import { settingLine, type TuningSetting } from '../tuning/settings/setting.js'

/** The palette of Okabe and Ito, whose colors color-blind readers can tell apart. */
const colors = [...['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442']] as const
const otherColor = '#999999'

export interface SettingClasses {
  readonly classes: readonly CellClass[]
  /** The index of the class, by setting. */
  readonly classOf: readonly number[]
}

/**
 * Groups settings into classes for a map: one class, with a letter, for each of the most frequent, and one for all
 * others.
 *
 * @param maps settings of cells; -1 for none
 */
export function settingClasses(
  settings: readonly TuningSetting[],
  maps: readonly (readonly number[])[],
): SettingClasses {
  const counts = settings.map(() => 0)
  for (const map of maps) for (const setting of map) if (setting >= 0) counts[setting]++
  const present = [...settings.keys()]
    .filter((setting) => counts[setting] > 0)
    .sort((a, b) => counts[b] - counts[a] || a - b)
  const shown = present.slice(0, present.length > colors.length ? colors.length - 1 : colors.length)
  const classes: CellClass[] = shown.map((setting, i) => ({
    ...{ name: settingLine(settings[setting]), color: colors[i], mark: String.fromCharCode(97 + i) },
  }))
  const others = present.length - shown.length
  if (others > 0) classes.push({ name: `${others} others`, color: otherColor, mark: '' })
  const classOf = settings.map((_, setting) => {
    const at = shown.indexOf(setting)
    return at < 0 ? shown.length : at
  })
  return { classes, classOf }
}
