import {
  closeSync,
  constants,
  fstatSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { sha256 } from '../base/hash.js'
import { RankweaveError } from '../errors.js'
import { makeDirectory } from '../text/whole-file.js'

/** The most files of a kind that are kept; the least recently used go first. */
const mostKept = 16

/** The most bytes of a library; compiled ones have less than a megabyte. */
const mostBytes = 2 ** 26

/**
 * Copies a library to `target` that this user has compiled from the same sources before. Only files that this user alone
 * can write are taken, and only if they have the bytes that were compiled: their name has a hash of these.
 *
 * @param key the hash of all that a compilation depends on
 * @returns whether there is one; false after any error
 */
export function takeLibrary(key: string, target: string): boolean {
  try {
    const folder = keptFolder('preload')
    const name = readdirSync(folder).find((one) => one.startsWith(`${key}-`) && one.endsWith('.so'))
    if (name === undefined) return false
    const bytes = readOwn(join(folder, name))
    if (name !== nameOf(key, bytes)) {
      rmSync(join(folder, name))
      return false
    }
    writeWhole(target, bytes, 0o755)
    return true
  } catch {
    return false
  }
}

/** Keeps a compiled library for later commands of this user. Does nothing where it cannot. */
export function keepLibrary(key: string, library: string): void {
  try {
    const bytes = readFileSync(library)
    const folder = keptFolder('preload')
    writeWhole(join(folder, nameOf(key, bytes)), bytes, 0o600)
    keepNewest(folder, '.so')
  } catch {
    // A full disk, a home that is read-only or not ours, or another command that removes the same file.
  }
}

/** Removes all but the files of an ending that were used last. */
export function keepNewest(folder: string, ending: string): void {
  const usedMs = (name: string) => lstatSync(join(folder, name)).mtimeMs
  const names = readdirSync(folder).filter((name) => name.endsWith(ending))
  const newestFirst = names.map((name) => ({ name, ms: usedMs(name) })).sort((a, b) => b.ms - a.ms)
  for (const { name } of newestFirst.slice(mostKept)) rmSync(join(folder, name), { force: true })
}

function nameOf(key: string, bytes: Uint8Array): string {
  return `${key}-${sha256().update(bytes).digest()}.so`
}

/**
 * Returns `$XDG_CACHE_HOME/rankweave/preload` or `costs`, which it makes if it is missing.
 *
 * @throws ERR_FILE unless it belongs to this user, who alone can write to it
 */
export function keptFolder(kind: 'preload' | 'costs'): string {
  const set = process.env['XDG_CACHE_HOME'] ?? ''
  const home = isAbsolute(set) ? set : join(homedir(), '.cache')
  makeDirectory(home)
  if (lstatSync(home).uid !== process.getuid?.()) throw notOurs(home)
  const own = join(home, 'rankweave')
  const kept = join(own, kind)
  for (const folder of [own, kept]) {
    try {
      mkdirSync(folder, { mode: 0o700 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const stats = lstatSync(folder)
    if (!stats.isDirectory() || !isOnlyOurs(stats)) throw notOurs(folder)
  }
  return kept
}

const notOurs = (folder: string) =>
  new RankweaveError('ERR_FILE', `expected ${folder} as a folder that this user alone can write to`)

/** Reads a library and marks it as used. @throws an error unless this user alone can write it */
function readOwn(file: string): Buffer {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile() || !isOnlyOurs(stats) || stats.size > mostBytes)
      throw new Error(`expected ${file} of this user alone`)
    const now = new Date()
    futimesSync(descriptor, now, now)
    return readFileSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function isOnlyOurs({ mode, uid }: Stats): boolean {
  return uid === process.getuid?.() && (mode & 0o022) === 0
}

/** Writes a file that appears complete or not at all, and replaces one that a running program may have loaded. */
function writeWhole(file: string, bytes: Uint8Array, mode: number): void {
  const draft = `${file}.${crypto.randomUUID()}`
  try {
    writeFileSync(draft, bytes, { mode, flag: 'wx' })
    renameSync(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
}
