import { readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Whether one of these paths, or anything below a folder among them, is newer than a file, or there is no
 * such file.
 */
export function isOlder(file: string, paths: readonly string[], checkout = root): boolean {
  // Folders too: they change when a file of theirs is removed.
  const all = paths.flatMap((path) => {
    if (!statSync(checkout + path).isDirectory()) return [path]
    return [path, ...readdirSync(checkout + path, { recursive: true }).map((name) => `${path}/${name}`)]
  })
  const changed = Math.max(...all.map((path) => statSync(checkout + path).mtimeMs))
  const made = statSync(checkout + file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return made < changed
}
