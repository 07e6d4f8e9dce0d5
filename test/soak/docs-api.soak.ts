import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const typedoc = join(createRequire(import.meta.url).resolve('typedoc/package.json'), '../bin/typedoc')

it('docs:api generates the API reference without a warning, a page for every entry', () => {
  const out = mkdtempSync(join(tmpdir(), 'rankweave-docs-'))
  try {
    execFileSync(process.execPath, [typedoc, '--out', out], { cwd: root, stdio: 'pipe' })
    const index = readFileSync(join(out, 'README.md'), 'utf8')
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: object }
    for (const path of Object.keys(exports)) {
      if (path.endsWith('.json')) continue
      expect(index).toContain(`[rankweave${path.slice(1)}]`)
    }
    expect(readFileSync(join(out, 'rankweave/classes/Communicator.md'), 'utf8')).toContain('### createCart()')
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
})
