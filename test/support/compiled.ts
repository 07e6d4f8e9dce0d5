import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { buildSync } from 'esbuild'

const root = fileURLToPath(new URL('../../', import.meta.url))

const files = new Map<string, string>()

/**
 * Path of a TypeScript program of `test/support`, compiled into one file: a compiler in every process and
 * worker would take longer than most programs. What it imports of `src` is in that file, `rankweave` is the
 * library as it was built, and URLs count from a folder of `test`.
 */
export function compiled(name: string): string {
  const known = files.get(name)
  if (known !== undefined) return known
  const { outputFiles } = buildSync({
    entryPoints: [`${root}test/support/${name}`],
    bundle: true,
    packages: 'external',
    // Without the paths of tsconfig.json, which lead to the source.
    tsconfigRaw: {},
    format: 'esm',
    platform: 'node',
    target: 'node20',
    write: false,
  })
  const folder = `${root}test/.compiled`
  const file = `${folder}/${name.replace(/\.ts$/, '.mjs')}`
  // Another vitest worker may start the same program: it has the file whole at any time.
  const draft = `${file}.${process.pid}`
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(draft, outputFiles[0].contents)
  renameSync(draft, file)
  files.set(name, file)
  return file
}

/** The same as a URL, as worlds on threads take programs. */
export const compiledUrl = (name: string): URL => pathToFileURL(compiled(name))
