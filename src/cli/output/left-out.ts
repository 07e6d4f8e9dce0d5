import type { Blacklists } from '../../tuning/online/learn-runs.js'
import { type NumberedSettings, settingLine } from '../../tuning/settings/setting.js'
import { counted } from './reporter.js'

/** The most settings of a collective that are named. */
const mostNamed = 12

/** Returns the settings that a model never chooses, by collective, those first that the user has named. */
export function leftOut(table: NumberedSettings, blacklists: Blacklists): Record<string, readonly string[]> {
  const lines = table.collectives.map((collective) => {
    const settings = table.of(collective)
    const numbers = [...(blacklists.get(collective) ?? [])]
    return [collective, numbers.map((number) => settingLine(settings[number - 1]))] as const
  })
  return Object.fromEntries(lines.filter(([, names]) => names.length > 0))
}

/** Returns the settings that are left out as text, a line for each collective. */
export function leftOutNotes(names: Readonly<Record<string, readonly string[]>>): readonly string[] {
  const lines = Object.entries(names).map(([collective, own]) => {
    const left = own.length - mostNamed
    const more = left > 0 ? ` and ${counted(left, 'other', 'others')}` : ''
    const listed = own.slice(0, mostNamed).join(' ')
    return `left out of ${collective}: ${counted(own.length, 'setting', 'settings')}, ${listed}${more}`
  })
  return lines.length > 0 ? lines : ['left out: no setting']
}
