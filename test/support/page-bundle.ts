import { fileURLToPath } from 'node:url'
import { type BuildResult, buildSync } from 'esbuild'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A module of TypeScript as one file for pages; `rankweave` and `rankweave/browser` are the entry of pages, and
 * `rankweave/client` the client of services, from source. */
export function pageBundle(code: string): BuildResult<{ write: false; metafile: true }> {
  return buildSync({
    stdin: { contents: code, resolveDir: root, loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    tsconfigRaw: {},
    alias: {
      rankweave: `${root}src/entry/browser.ts`,
      'rankweave/browser': `${root}src/entry/browser.ts`,
      'rankweave/client': `${root}src/entry/client.ts`,
    },
    external: ['highs'],
    write: false,
    metafile: true,
    // An import of a module of Node is an error, which names its file.
    logLevel: 'silent',
  })
}
