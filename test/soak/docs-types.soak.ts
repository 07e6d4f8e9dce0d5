import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Whether a program has a default export, and is not only the beginning of it. */
const isWhole = (text: string) =>
  text.includes('export default') && (!/^export default .*\{$/m.test(text) || /^\}/m.test(text))

/** Whole programs of README and the pages of docs/: blocks ```ts with a default export. */
const programs = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)]
  .filter((page) => page.endsWith('.md'))
  .flatMap((page) =>
    Array.from(
      readFileSync(join(root, page), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm),
      ([, text]) => text,
    ),
  )
  .filter(isWhole)

it('the programs of README and docs compile under strict settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-docs-types-'))
  try {
    for (const [i, text] of programs.entries()) writeFileSync(join(folder, `program-${i}.ts`), text)
    const compilerOptions = { noEmit: true, typeRoots: [join(root, 'node_modules/@types')] }
    const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['*.ts'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const tsc = join(root, 'node_modules/@typescript/native/bin/tsc')
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })
    expect(programs.length).toBeGreaterThan(10)
    expect(stdout).toBe('')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
