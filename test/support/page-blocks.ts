import { readdirSync, readFileSync } from 'node:fs'

const root = new URL('../../', import.meta.url)

/** README and the pages directly in docs/. */
export const pageNames: readonly string[] = [
  'README.md',
  ...readdirSync(new URL('docs', root)).map((name) => `docs/${name}`),
].filter((page) => page.endsWith('.md'))

/** A block of code of a page. */
export interface Block {
  readonly language: string
  readonly text: string
}

export const blocksOf = (page: string): readonly Block[] =>
  Array.from(
    readFileSync(new URL(page, root), 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm),
    ([, language, text]) => ({ language, text }),
  )
