import { wrongValue } from '../../errors.js'
import type { Collective } from '../../schedule/specification.js'
import { type NumberedSettings, settingLine } from '../../tuning/settings/setting.js'

/**
 * Returns the numbers of the settings of `--without`: an algorithm with all of its settings, or one of them.
 *
 * @throws ERR_USAGE for a text that names none
 */
export function blacklistsOf(
  table: NumberedSettings,
  texts: readonly string[],
): Map<Collective, Set<number>> {
  const lists = new Map<Collective, Set<number>>()
  for (const text of texts) {
    let found = 0
    for (const collective of table.collectives)
      for (const [i, setting] of table.of(collective).entries()) {
        if (settingLine(setting) !== text && setting.algorithm !== text) continue
        found++
        lists.set(collective, (lists.get(collective) ?? new Set()).add(i + 1))
      }
    if (found === 0) throw wrongValue('ERR_USAGE', '--without: expected a setting that runs have', text)
  }
  return lists
}
