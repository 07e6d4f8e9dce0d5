import { requireText } from '../base/known-options.js'
import { printable } from '../text/printable.js'
import { failMachine } from './profile-figures.js'

export const mostHosts = 2 ** 20

/** The most characters of a name, as in the Domain Name System. */
export const longestName = 255

/** A part of a name outside of brackets: letters, digits, `.`, `_` and `-`. */
const word = /[\w.-]+/y
const range = /(\d+)(?:-(\d+))?/y

/**
 * Returns the hosts of a list as Slurm abbreviates it: `n[001-003,7],gpu1` is n001, n002, n003, n7, gpu1. A name may
 * have several brackets, of which the last varies fastest: `r[1-2]n[0-1]`.
 *
 * @throws ERR_MACHINE with the character, also for names that begin with `-` or `.` or have more than 255 characters,
 *   and beyond 2^20 hosts, before they are listed
 */
export function expandHosts(text: string): string[] {
  requireText('expandHosts', text)
  return listHosts(text, mostHosts, (at, expected) => {
    const got = at < text.length ? `'${text.slice(at, at + 40)}'` : 'the end'
    return failMachine(
      printable(`hosts '${text.slice(0, 200)}', character ${at + 1}: expected ${expected}, got ${got}`),
      { at },
    )
  })
}

/** A function that refuses a list of hosts: an index into it, and what was expected there. */
type Fail = (at: number, expected: string) => never

/** Works as {@link expandHosts} does, with at most `most` hosts, for callers that report places in a longer text. */
export function listHosts(text: string, most: number, fail: Fail): string[] {
  const hosts: string[] = []
  let at = 0
  while (true) {
    const start = at
    const parts: Alternatives[] = []
    let count = 1
    let length = 0
    for (;;) {
      const plain = matchAt(word, text, at)
      if (plain !== null) {
        parts.push({ count: 1, length: plain.length, all: () => [plain] })
        at += plain.length
      } else if (text[at] === '[') {
        const bracket = bracketAt(text, at, fail)
        parts.push(bracket)
        count *= bracket.count
        at = bracket.end
      } else break
      length += parts.at(-1)!.length
      if (length > longestName) fail(start, `names of at most ${longestName} characters`)
      if (hosts.length + count > most) fail(start, `at most ${mostHosts} hosts`)
    }
    if (parts.length === 0 || /[.-]/.test(text[start])) fail(start, 'the name of a host')
    for (const host of combined(parts)) hosts.push(host)
    if (at === text.length) return hosts
    if (text[at] !== ',') fail(at, "','")
    at++
  }
}

interface Alternatives {
  readonly count: number
  /** The length of the longest. */
  readonly length: number
  all(): string[]
}

/** The most digits of a number in a range, leading zeros included. */
const mostDigits = 16

/** Reads `[001-003,7]` from its opening bracket. */
function bracketAt(text: string, opening: number, fail: Fail): Alternatives & { readonly end: number } {
  const ranges: { first: number; last: number; width: number }[] = []
  let at = opening + 1
  let count = 0
  let length = 0
  for (;;) {
    range.lastIndex = at
    const match = range.exec(text)
    if (match === null) return fail(at, 'a number or a range such as 001-003')
    const [first, last] = [Number(match[1]), Number(match[2] ?? match[1])]
    if (last < first || last > Number.MAX_SAFE_INTEGER) fail(at, 'an ascending range')
    if (match[1].length > mostDigits) fail(at, `numbers of at most ${mostDigits} digits`)
    ranges.push({ first, last, width: match[1].length })
    count += last - first + 1
    length = Math.max(length, match[1].length, String(last).length)
    at += match[0].length
    if (text[at] === ']') break
    if (text[at] !== ',') fail(at, "',' or ']'")
    at++
  }
  const all = () => {
    const numbers: string[] = []
    for (const { first, last, width } of ranges)
      for (let number = first; number <= last; number++) numbers.push(String(number).padStart(width, '0'))
    return numbers
  }
  return { count, length, all, end: at + 1 }
}

function combined(parts: readonly Alternatives[]): string[] {
  let names = ['']
  for (const part of parts) {
    const all = part.all()
    names = names.flatMap((name) => all.map((alternative) => name + alternative))
  }
  return names
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? null
}
