// npm run figures: writes what README.md and docs/ print of computed figures, pictures and outputs of commands.
// test/figures.test.ts compares those that take little time, test/soak/figures.soak.ts all of them.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { argv, execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import { pageNames } from '../test/support/page-blocks.js'
import { asInstalled, folderOfPages, isShown, stepsOf } from './figures/console-blocks.js'
import { docsFigures, pictures } from './figures/docs-figures.js'
import { measuredFigures } from './figures/measured-figures.js'
import { modelFigures } from './figures/model-figures.js'
import { networkFigures } from './figures/network-figures.js'
import { type FigureLine, pageWithFigures } from './figures/page-figures.js'

export const figureLines: readonly FigureLine[] = [
  ...docsFigures,
  ...measuredFigures,
  ...modelFigures,
  ...networkFigures,
]

export const figurePages = [...new Set(figureLines.map(({ page }) => page))]

export { pictures }

export const pageUrl = (page: string) =>
  new URL(page === 'README.md' ? '../README.md' : `../docs/${page}`, import.meta.url)

/** The text of a page with its figures of today. @param isMeant which of them; default all */
export function pageOfToday(page: string, isMeant: (line: FigureLine) => boolean = () => true) {
  const lines = figureLines.filter((each) => each.page === page && isMeant(each))
  return pageWithFigures(readFileSync(pageUrl(page), 'utf8'), lines)
}

/** Runs the commands of all ```console blocks, and writes what they print where a page has something else. */
function writeConsoleBlocks(): void {
  const folder = folderOfPages()
  const command = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
  try {
    for (const name of pageNames) {
      const url = new URL(`../${name}`, import.meta.url)
      for (const step of stepsOf(name)) {
        const words = [command, ...step.line.split(' ')]
        const { status, stdout, stderr } = spawnSync(execPath, words, { cwd: folder, encoding: 'utf8' })
        if (isShown(step, { exitCode: status, stdout, stderr })) continue
        const [before, after] = [step.expected, asInstalled(`${stdout}${stderr}`)].map(
          (text) => `$ rankweave ${step.line}\n${text}`,
        )
        writeFileSync(
          url,
          readFileSync(url, 'utf8').replace(before, () => after),
        )
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  for (const page of figurePages) writeFileSync(pageUrl(page), await pageOfToday(page))
  for (const { file, draw } of pictures) writeFileSync(pageUrl(file), await draw())
  writeConsoleBlocks()
}
