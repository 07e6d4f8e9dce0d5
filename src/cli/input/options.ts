import { type Command, Option as Flag } from 'commander'
import * as z from 'zod'
import { integerOption, type NamedOptions, numberOption, type Option, wordOption } from '../../base/option.js'
import { defaultText, expectedText } from '../../base/option-table.js'
import { RankweaveError, shortened } from '../../errors.js'
import { type Collective, rootedCollectives } from '../../schedule/specification.js'

/**
 * Parses options. They arrive from commander as strings, booleans and lists; a schema gives each its type or reports
 * what it accepts.
 */
export function parseOptions<T>(schema: z.ZodType<T>, raw: unknown): T {
  const parsed = schema.safeParse(raw)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const option = flagOf(String(issue.path[0] ?? ''))
  throw new RankweaveError('ERR_USAGE', `${option}: ${issue.message}`, { details: { option } })
}

/** Returns the name as the user wrote it: `--tag-output` for `tagOutput`. */
function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

function textValue<T>(option: Option<T>) {
  return z.unknown().transform((text, context): T => {
    const value = typeof text === 'string' ? option.parse(text) : undefined
    return value ?? refuse(context, expectedText(option), text)
  })
}

/** Parses an integer in decimal digits within bounds. */
export function whole(least: number, most: number = Number.MAX_SAFE_INTEGER) {
  return textValue(integerOption({ least, most }))
}

/** Parses seconds in decimal digits, a fraction allowed. */
export function seconds(most: number, least = 0) {
  return textValue(numberOption({ least, most, unit: 'seconds' }))
}

/** Parses a number in decimal digits within bounds, a fraction allowed. */
export function number(least: number, most: number) {
  return textValue(numberOption({ least, most }))
}

/** Parses a word of several. */
export function oneOf<const T extends string>(...words: readonly T[]) {
  return textValue(wordOption(words))
}

/** Parses some of several words, separated by commas, without repetition. */
export function wordList<const T extends string>(words: readonly T[]) {
  const one = textValue(wordOption(words))
  return z.unknown().transform((text, context): readonly T[] => {
    const items = typeof text === 'string' ? text.split(',').map((item) => one.safeParse(item)) : []
    const values = items.flatMap((item) => (item.success ? [item.data] : []))
    if (values.length > 0 && values.length === items.length) return [...new Set(values)]
    return refuse(context, `words of ${words.join(', ')} separated by commas`, text)
  })
}

/** Parses whole numbers separated by commas, without repetition, at most so many. */
export function wholeList(min: number, max: number, most = Number.POSITIVE_INFINITY) {
  const one = whole(min, max)
  return z.unknown().transform((text, context): readonly number[] => {
    const items = typeof text === 'string' ? text.split(',').map((item) => one.safeParse(item)) : []
    const values = items.flatMap((item) => (item.success ? [item.data] : []))
    const distinct = [...new Set(values)]
    if (values.length > 0 && values.length === items.length && distinct.length <= most) return distinct
    const count = most === Number.POSITIVE_INFINITY ? '' : `at most ${most} `
    return refuse(context, `${count}integers from ${min} to ${max} separated by commas`, text)
  })
}

function refuse(context: z.RefinementCtx, expected: string, got: unknown): never {
  context.addIssue({
    code: 'custom',
    message: `expected ${expected}, got ${shortened(JSON.stringify(got) ?? 'nothing')}`,
  })
  return z.NEVER
}

/**
 * Refuses options that the user wrote although they have no effect; defaults pass.
 *
 * @param names as `opts()` of the command has them
 * @param reason follows the option: `is for algorithms, not for files`
 * @throws ERR_USAGE naming the first
 */
export function refuseGiven(command: Command, names: readonly string[], reason: string): void {
  const isGiven = (name: string) => names.includes(name) && command.getOptionValueSource(name) === 'cli'
  const option = command.options.find((one) => isGiven(one.attributeName()))?.long
  if (option != null) throw new RankweaveError('ERR_USAGE', `${option} ${reason}`, { details: { option } })
}

/** @throws ERR_USAGE for `--root` with a collective without a root */
export function refuseNeedlessRoot(
  command: Command,
  { collective }: { readonly collective: Collective },
): void {
  if (rootedCollectives.includes(collective)) return
  refuseGiven(command, ['root'], `is for ${rootedCollectives.join(', ')}, not for ${collective}`)
}

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
