import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import type { FastifyInstance } from 'fastify'

export interface StaticFile {
  readonly type: string
  readonly bytes: Buffer
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
}

/** The policy of the page: it runs only its own code, and talks only to its own service. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Reads all files of a folder that the page may consist of, once: only files in this list exist for clients. */
export function filesOf(folder: string): ReadonlyMap<string, StaticFile> {
  if (!existsSync(folder)) return new Map()
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = names.flatMap((name): [string, StaticFile][] => {
    const type = types[extname(name)]
    const path = join(folder, name)
    if (type === undefined || !statSync(path).isFile()) return []
    return [[`/${name.split(sep).join('/')}`, { type, bytes: readFileSync(path) }]]
  })
  const all = new Map(files)
  const index = all.get('/index.html')
  if (index !== undefined) all.set('/', index)
  return all
}

export function addStaticFiles(app: FastifyInstance, files: ReadonlyMap<string, StaticFile>): void {
  for (const [path, { type, bytes }] of files) {
    const isHashed = path.startsWith('/assets/')
    app.get(path, (_request, reply) =>
      reply
        .headers({
          'content-security-policy': policy,
          'x-frame-options': 'DENY',
          'cross-origin-opener-policy': 'same-origin',
          'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
        })
        .type(type)
        .send(bytes),
    )
  }
}
