import { readFileSync, realpathSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The most files of a program that are read. */
const mostFiles = 64

/** The form of `import ... from '...'`, `import '...'` and `export ... from '...'`, which begin a line. */
const statement =
  /^[ \t]*(?:import(?:[\s{*][\w$\s{},*]*?[\s}]from)?|export\s*[{*][\w$\s{},*]*?[\s}*]from)\s*(?:'([^'\n\\]+)'|"([^"\n\\]+)")/gm

/**
 * The form of other texts that may load a module, or a name that is not in the text. `import.meta` loads nothing by
 * itself.
 */
const other = /\bimport\b(?!\s*\.\s*meta\b(?!\s*\.\s*resolve))|\brequire\b|\bfrom\s*['"`]/

/**
 * Returns whether a JavaScript program may import a package. It is false only if the program and the files it imports
 * evidently import only each other and modules of Node.
 *
 * @param flags of this process, and of `NODE_OPTIONS`: modules that they load may add imports
 */
export function mayImportPackages(program: URL, flags: readonly string[]): boolean {
  if (flags.some((flag) => /^(-r|--require|--import|--loader|--experimental-loader)\b/.test(flag)))
    return true
  const files = new Set<string>()
  const open = [program]
  for (let url = open.pop(); url !== undefined; url = open.pop()) {
    let file: string
    let text: string
    try {
      file = realpathSync(fileURLToPath(url))
      if (files.has(file)) continue
      text = readFileSync(file, 'utf8')
    } catch {
      return true
    }
    files.add(file)
    if (files.size > mostFiles || !['.js', '.mjs'].includes(extname(file))) return true
    const names = Array.from(text.matchAll(statement), ([, single, double]) => single ?? double)
    if (other.test(text.replace(statement, ''))) return true
    for (const name of names) {
      // This module makes `require`.
      if (/^(node:)?module$/.test(name)) return true
      if (isBuiltin(name)) continue
      if (!/^\.{0,2}\//.test(name)) return true
      open.push(new URL(name, pathToFileURL(file)))
    }
  }
  return false
}
