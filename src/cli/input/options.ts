import { type Command, Option as Flag } from 'commander'
import * as z from 'zod'
import { integerOption, type NamedOptions, numberOption, type Option, wordOption } from '../../base/option.js'
import { defaultText, expectedText } from '../../base/option-table.js'
import { RankweaveError, shortened } from '../../errors.js'
import { type Collective, rootedCollectives } from '../../schedule/specification.js'

/** An option of a command, once: how users write it, its help, and the check that gives its value a type. */
export interface CommandOption<T> {
  /** The flags as commander takes them: `-o, --output <file>`. */
  readonly flags: string
  readonly help: string
  readonly check: z.ZodType<T>
  /** The value that commander assumes for an option that is not given. */
  readonly initial?: string | boolean | readonly string[] | undefined
  readonly isRequired?: true
}

/** The options of a command by the names of their values, in the order of its help. */
type CommandOptions = Readonly<Record<string, CommandOption<unknown>>>

/** The values of options; a value that may be undefined may be absent. */
export type OptionValues<Table extends CommandOptions> = {
  readonly [Name in keyof Table as undefined extends ValueOf<Table[Name]> ? never : Name]: ValueOf<
    Table[Name]
  >
} & {
  readonly [Name in keyof Table as undefined extends ValueOf<Table[Name]> ? Name : never]?: ValueOf<
    Table[Name]
  >
}

type ValueOf<One> = One extends CommandOption<infer T> ? T : never

/**
 * Makes an option of a command. Without `initial` its value is undefined if it is not given.
 *
 * @param check Default: any text.
 */
export function option(flags: string, help: string): CommandOption<string | undefined>
export function option<T>(flags: string, help: string, check: z.ZodType<T>): CommandOption<T | undefined>
export function option<T>(
  flags: string,
  help: string,
  check: z.ZodType<T>,
  initial: CommandOption<T>['initial'],
): CommandOption<T>
export function option(
  flags: string,
  help: string,
  check: z.ZodType = z.string(),
  initial?: CommandOption<unknown>['initial'],
): CommandOption<unknown> {
  return { flags, help, check: initial === undefined ? check.optional() : check, initial }
}

/** Makes an option that a command cannot do without. */
export function required<T>(flags: string, help: string, check: z.ZodType<T>): CommandOption<T> {
  return { flags, help, check, isRequired: true }
}

/** Makes an option without a value, false unless it is given. */
export function flag(flags: string, help: string): CommandOption<boolean> {
  return option(flags, help, z.boolean(), false)
}

/** Makes an option such as `--no-check`, whose value is true unless it is given. */
export function negation(flags: string, help: string): CommandOption<boolean> {
  return { flags, help, check: z.boolean() }
}

export const json = flag('--json', 'one JSON object on standard output')

export function addOptions(command: Command, table: CommandOptions): Command {
  for (const { flags, help, initial, isRequired = false } of Object.values(table))
    command.addOption(new Flag(flags, help).default(initial).makeOptionMandatory(isRequired))
  return command
}

/**
 * Checks the options that a user gave. They arrive from commander as strings, booleans and lists.
 *
 * @throws ERR_USAGE naming the option, with what was expected and what arrived
 */
export function readOptions<Table extends CommandOptions>(table: Table, raw: unknown): OptionValues<Table> {
  const given = raw as Readonly<Record<string, unknown>>
  const values = Object.entries(table).map(([name, { flags, check }]) => {
    const written = new Flag(flags)
    const parsed = check.safeParse(given[written.attributeName()])
    if (parsed.success) return [name, parsed.data]
    const { long } = written
    throw new RankweaveError('ERR_USAGE', `${long}: ${parsed.error.issues[0].message}`, {
      details: { option: long! },
    })
  })
  return Object.fromEntries(values) as OptionValues<Table>
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

/**
 * Returns the flags of the options that a text can give: `--table-group`, or `--no-dedupe` if the default is true. The
 * value of an option that is not given is undefined.
 */
export function commandOptionsOf<Table extends NamedOptions>(
  table: Table,
): { readonly [Name in keyof Table]: CommandOption<TextValue<Table[Name]> | undefined> } {
  const entries = Object.entries(table).flatMap(([name, each]): [string, CommandOption<unknown>][] => {
    const placeholder = placeholders[each.kind]
    if (placeholder === undefined) return []
    const turnsOff = each.default === true
    const word = (each.word ?? name).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    const help = [turnsOff ? 'turn off' : undefined, each.help, wordsOf(each)]
    const initial = turnsOff ? undefined : defaultText(each)
    const line = help.filter((part) => part !== undefined).join(': ')
    const description = initial === undefined ? line : `${line} (default: ${initial})`
    return [[name, option(`--${turnsOff ? 'no-' : ''}${word}${placeholder}`, description, givenValue(each))]]
  })
  return Object.fromEntries(entries) as ReturnType<typeof commandOptionsOf<Table>>
}

type TextValue<O> = O extends Option<infer T> ? T : never

function givenValue(each: Option<unknown>) {
  return z.unknown().transform((given, context): unknown => {
    if (given === undefined || (given === auto && wordsOf(each)?.startsWith(auto))) return undefined
    // Commander has `true` if `--no-...` is not given.
    if (given === true && each.default === true) return undefined
    const value = typeof given === 'string' ? each.parse(given) : given
    return value ?? refuse(context, expectedText(each), given)
  })
}

/** Returns the words that a flag takes, or the numbers. */
function wordsOf({ kind, words = [], computed, expected }: Option<unknown>): string | undefined {
  if (kind === 'integer' || kind === 'number') return expected
  if (kind !== 'word') return undefined
  return [...(computed === undefined ? [] : [auto]), ...words].join(', ')
}
