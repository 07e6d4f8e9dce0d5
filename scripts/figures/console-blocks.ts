import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { blocksOf, pageNames } from '../../test/support/page-blocks.js'

// A block ```ts whose first line is `// name.ts` is a program; a block ```console has commands, `$ rankweave ...`, each
// followed by what it prints, standard output and standard error together.

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A command of a page, and the lines that follow it there. */
export interface Step {
  readonly line: string
  readonly expected: string
}

/** The commands of the ```console blocks of a page. */
export function stepsOf(page: string): readonly Step[] {
  return blocksOf(page)
    .filter(({ language }) => language === 'console')
    .flatMap(({ text }) => text.split(/^\$ rankweave /m).slice(1))
    .map((step) => {
      const [line, ...expected] = step.split('\n')
      return { line, expected: expected.join('\n') }
    })
}

/** A new folder with the programs of all pages, in which their commands run. */
export function folderOfPages(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-readme-'))
  for (const name of ['examples', 'test']) symlinkSync(join(root, name), join(folder, name))
  for (const { language, text } of pageNames.flatMap(blocksOf)) {
    const name = language === 'ts' ? /^\/\/ ([\w-]+\.ts)\n/.exec(text)?.[1] : undefined
    if (name !== undefined) writeFileSync(join(folder, name), text)
  }
  return folder
}

const time = '[\\d.]+ (?:m|u)?s\\b'
const measured = [
  // The end of a run, planning, mapping, and a product with its verdicts.
  new RegExp(`(?<=^\\d+ ranks? on \\d+ [a-z ]+: )${time}`, 'gm'),
  new RegExp(`(?<=^ +planning time +)${time}`, 'gm'),
  new RegExp(`(?<=^ +from .*, in )${time}`, 'gm'),
  new RegExp(`(?<=, made in )${time}`, 'g'),
  new RegExp(`${time}(?=.*GFLOP/s)`, 'g'),
]

/** Returns a printed text with the command as pages spell it; the command prints how it was started. */
export function asInstalled(text: string): string {
  return text.replace(/(?:npx rankweave|node \S+\/dist\/cli\/main\.js) /g, 'rankweave ')
}

/** A printed text with one word for each time that is measured; simulated times stay. */
export function withoutMeasuredTimes(text: string): string {
  return measured
    .reduce((all, each) => all.replace(each, 'TIME'), asInstalled(text))
    .replace(/[\d.e-]+ GFLOP\/s, \d+%/g, 'RATE')
    .replace(
      /^ {2}(?:faster than|slower than|no difference seen from) (.*?) {2,}.*times as fast.*$/gm,
      'VERDICT $1',
    )
    .replace(/^(In this run the plan sent .*?), and .*$/gm, '$1, VERDICT')
    .replace(/^( {2}(?:neighbor allgather|direct sends|ordinary allgather)) +/gm, '$1 ')
    .trim()
}

export interface StepOutput {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Whether a page shows what a command prints: its standard output, and of standard error as much as the page has, since
 * commands report their progress there. What a failing command prints has to be on the page.
 */
export function isShown({ expected }: Step, { exitCode, stdout, stderr }: StepOutput): boolean {
  const [shown, out, whole] = [expected, stdout, `${stdout}${stderr}`].map(withoutMeasuredTimes)
  if (exitCode !== 0 && shown === '') return false
  return shown.startsWith(out) && whole.includes(shown)
}
