import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

const root = fileURLToPath(new URL('../../', import.meta.url))

const files = new Map<string, string>()

/**
 * Path of a TypeScript program of `test/support`, compiled into one file: a compiler in every process and worker would take
 * longer than most programs. What it imports of `src` is in that file, `rankweave` is the library as it was built, and URLs
 * count from a folder of `test`.
 */
export function compiled(name: string): string {
  const known = files.get(name)
  if (known !== undefined) return known
  const outfile = `${root}test/.compiled/${name.replace(/\.ts$/, '.mjs')}`
  buildSync({
    entryPoints: [`${root}test/support/${name}`],
    outfile,
    bundle: true,
    packages: 'external',
    // Without the paths of tsconfig.json, which lead to the source.
    tsconfigRaw: {},
    format: 'esm',
    platform: 'node',
    target: 'node20',
  })
  files.set(name, outfile)
  return outfile
}
