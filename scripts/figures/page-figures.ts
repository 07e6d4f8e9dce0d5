// Figures in README.md and docs/ that are computed. `npm run figures` writes them into their lines, `test/figures.test.ts`
// and `test/soak/figures.soak.ts` compare. A figure is the same on every computer; what is measured is not in here.

/** A line of a page, or several that are alike, with figures in it. */
export interface FigureLine {
  /** `README.md`, or a page in docs/. */
  readonly page: string
  /** The whole line; `{}` stands for each figure. */
  readonly line: string
  /** Whether it takes more than half a second, so that only `npm run soak` compares it. */
  readonly isLong?: boolean
  /** What stands for each `{}`, in their order. */
  values(): Promise<readonly string[]>
}

/** A number as pages print it: `1,080.8`. */
export function figure(value: number, digits = 0): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** A number with at most two digits behind the point, and none that is 0 at its end. */
export function rounded(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 })
}

/**
 * The text of a page with the figures of today.
 *
 * @throws Error for a line that the page does not have, or has twice
 */
export async function pageWithFigures(text: string, lines: readonly FigureLine[]): Promise<string> {
  let all = text
  for (const each of lines) {
    const found = [...all.matchAll(patternOf(each.line))]
    if (found.length !== 1) throw new Error(`${each.page} has ${found.length} lines of the form ${each.line}`)
    const values = await each.values()
    const parts = each.line.split('{}')
    if (values.length !== parts.length - 1)
      throw new Error(`${each.page}: ${values.length} figures for ${each.line}`)
    const written = parts.map((part, i) => (i === 0 ? part : `${values[i - 1]}${part}`)).join('')
    all = all.replace(found[0][0], () => written)
  }
  return all
}

function patternOf(line: string): RegExp {
  const parts = line.split('{}').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^|\\n]*?')}$`, 'gm')
}
