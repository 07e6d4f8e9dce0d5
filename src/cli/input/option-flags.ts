import { type Command, Option as Flag } from 'commander'
import type { NamedOptions, Option } from '../../base/option.js'
import { defaultText, expectedText } from '../../base/option-table.js'
import { RankweaveError, shortened } from '../../errors.js'

/** The placeholders for values of flags; kinds that are not here take no flag. */
const placeholders: Readonly<Partial<Record<Option<unknown>['kind'], string>>> = {
  integer: ' <number>',
  number: ' <number>',
  word: ' <name>',
  text: ' <text>',
  integers: ' <numbers>',
  flag: '',
}

/** The word for a value that the library computes. */
const auto = 'auto'

interface NamedFlag {
  readonly name: string
  readonly option: Option<unknown>
  /** The flag as a user writes it: `--table-group`, or `--no-dedupe` if the default is true. */
  readonly long: string
  readonly flag: Flag
}

function flagsOf(table: NamedOptions): NamedFlag[] {
  return Object.entries(table).flatMap(([name, option]) => {
    const placeholder = placeholders[option.kind]
    if (placeholder === undefined) return []
    const turnsOff = option.default === true
    const word = (option.word ?? name).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    const long = `--${turnsOff ? 'no-' : ''}${word}`
    const help = [turnsOff ? 'turn off' : undefined, option.help, wordsOf(option)]
    const initial = turnsOff ? undefined : defaultText(option)
    const text = help.filter((part) => part !== undefined).join(': ')
    const description = initial === undefined ? text : `${text} (default: ${initial})`
    return [{ name, option, long, flag: new Flag(`${long}${placeholder}`, description) }]
  })
}

/** Returns the words that a flag takes, or the numbers. */
function wordsOf({ kind, words = [], computed, expected }: Option<unknown>): string | undefined {
  if (kind === 'integer' || kind === 'number') return expected
  if (kind !== 'word') return undefined
  return [...(computed === undefined ? [] : [auto]), ...words].join(', ')
}

/** Adds a flag for every option that a text can give. */
export function addFlags(command: Command, table: NamedOptions): Command {
  for (const { flag } of flagsOf(table)) command.addOption(flag)
  return command
}

type Values<Table> = {
  -readonly [Name in keyof Table]?: Table[Name] extends Option<infer T> ? T : never
}

/**
 * Returns the options whose flags are given.
 *
 * @param raw what commander read
 * @throws ERR_USAGE naming the flag
 */
export function flagValues<Table extends NamedOptions>(table: Table, raw: unknown): Values<Table> {
  const values: Record<string, unknown> = {}
  for (const { name, option, long, flag } of flagsOf(table)) {
    const given = (raw as Readonly<Record<string, unknown>>)[flag.attributeName()]
    if (given === undefined || (given === auto && wordsOf(option)?.startsWith(auto))) continue
    // Commander has `true` if `--no-...` is not given.
    if (given === true && option.default === true) continue
    const value = typeof given === 'string' ? option.parse(given) : given
    if (value === undefined) {
      const message = `${long}: expected ${expectedText(option)}, got ${shortened(JSON.stringify(given))}`
      throw new RankweaveError('ERR_USAGE', message, { details: { option: long } })
    }
    values[name] = value
  }
  return values as Values<Table>
}
