// Makes dist/web of web/: the page that a service gives out, and the same as one file, the template of
// reports.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

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
      const packages = new Set()
      for (const piece of Object.values(bundle))
        for (const id of piece.type === 'chunk' ? piece.moduleIds : []) {
          const [, path] = /^(?:\0)?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id) ?? []
          if (path !== undefined) packages.add(path)
        }
      const texts = [...packages].sort().map((path) => {
        const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
        const file = ['LICENSE', 'LICENSE.txt', 'LICENSE.md'].map((word) => join(path, word)).find(existsSync)
        return `${name} ${version} (${license})\n\n${file === undefined ? '' : readFileSync(file, 'utf8').trim()}\n`
      })
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: texts.join('\n---\n\n') })
    },
  }
}
