import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

// A rule that never fires looks just like a rule that is kept: every import against the direction must fail the linter,
// every other must not.

const allowed: Readonly<Record<string, readonly string[]>> = {
  topology: [],
  schedule: ['topology'],
  fabric: [],
  comm: ['fabric'],
  neighborhood: ['topology', 'schedule', 'fabric', 'comm'],
  conformance: ['topology', 'schedule', 'fabric', 'comm', 'neighborhood'],
  service: ['topology', 'schedule', 'fabric', 'comm', 'neighborhood'],
  cli: ['topology', 'schedule', 'fabric', 'comm', 'neighborhood', 'service'],
  web: ['topology', 'schedule'],
}
const rooms = Object.keys(allowed)

const statements = (path: string): readonly string[] => [
  `import { value } from '${path}'`,
  `import type { Kind } from '${path}'`,
  `export * from '${path}'`,
  `export const late = import('${path}')`,
]

/** Files of a room that import another in every way there is, by path. */
const files = new Map(
  rooms.flatMap((room) =>
    [
      ...rooms.filter((other) => other !== room).map((other) => `../${other}/file.js`),
      '../entry/index.js',
      'rankweave',
    ].flatMap((target) =>
      statements(target).map((statement, i) => {
        const name = target.replace(/\W+/g, '-')
        const other = target.split('/')[1] ?? ''
        return [
          `src/${room}/${name}-${i}.ts`,
          { statement, isAllowed: allowed[room].includes(other) },
        ] as const
      }),
    ),
  ),
)

it('the linter rejects every import against the direction, and no other', () => {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-rooms-'))
  try {
    for (const name of ['biome.json', '.gitignore']) copyFileSync(join(root, name), join(folder, name))
    for (const room of rooms) mkdirSync(join(folder, 'src', room), { recursive: true })
    for (const [path, { statement }] of files) writeFileSync(join(folder, path), `${statement}\n`)

    const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome')
    const options = [
      'lint',
      '--only=style/noRestrictedImports',
      '--reporter=github',
      '--max-diagnostics=none',
      '.',
    ]
    const { status, stdout } = spawnSync(process.execPath, [biome, ...options], {
      cwd: folder,
      encoding: 'utf8',
    })

    const rejected = new Set(
      Array.from(stdout.matchAll(/noRestrictedImports,file=([^,]+),/g), ([, file]) =>
        file.slice(file.indexOf('src/')),
      ),
    )
    const expected = [...files].filter(([, { isAllowed }]) => !isAllowed).map(([path]) => path)
    expect(expected.length).toBeGreaterThan(100)
    expect([...rejected].sort()).toEqual(expected.sort())
    expect(status).toBe(1)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
