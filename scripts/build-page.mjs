// Makes dist/web of web/: the page that a service gives out, and the same as one file, the template of
// reports.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { licensesOf } from './licenses.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** @param {string} folder where the page goes */
export async function buildPage(folder) {
  await build({
    configFile: false,
    root: join(root, 'web'),
    base: './',
    logLevel: 'warn',
    plugins: [template(), licenses()],
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2022',
      modulePreload: false,
      reportCompressedSize: false,
      chunkSizeWarningLimit: 1000,
      rolldownOptions: {
        // The solver of exact grouping, which no page starts, has 3.5 MB.
        external: ['highs'],
        onLog(level, log, report) {
          // What only Node runs, such as exact grouping, is left out of the page on purpose.
          if (!log.message.includes('has been externalized for browser compatibility')) report(level, log)
        },
      },
    },
  })
}

/** report.html: index.html with its code and its style inside. */
function template() {
  return {
    name: 'rankweave-report-template',
    enforce: 'post',
    generateBundle(_, bundle) {
      const pieces = Object.values(bundle)
      const page = pieces.find(({ fileName }) => fileName === 'index.html')
      const code = pieces.find(({ type }) => type === 'chunk')
      const style = pieces.find(({ fileName }) => fileName.endsWith('.css'))
      // Functions, because a replacement text has its own patterns.
      const source = String(page.source)
        .replace(/<script type="module"[^>]*><\/script>/, '')
        .replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${style.source}</style>`)
        .replace(
          '</body>',
          () => `<script type="module">${code.code.replaceAll('</script', '<\\/script')}</script>\n</body>`,
        )
      this.emitFile({ type: 'asset', fileName: 'report.html', source })
    },
  }
}

/** licenses.txt: of the packages whose code is in the page, which their licenses demand. */
function licenses() {
  return {
    name: 'rankweave-page-licenses',
    generateBundle(_, bundle) {
      const modules = Object.values(bundle).flatMap((piece) =>
        piece.type === 'chunk' ? piece.moduleIds : [],
      )
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: licensesOf(modules) })
    },
  }
}
