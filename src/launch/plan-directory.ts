import { readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { functionOption, integerOption, type OptionTable } from '../base/option.js'
import { checkOptions, withDefaults } from '../base/option-table.js'
import { RankweaveError, wrongValue } from '../errors.js'
import { makeDirectory } from '../text/whole-file.js'

export interface PlanDirectoryOptions {
  /** The most plans that are retained. Default 64. */
  readonly maxFiles?: number
  /** The most bytes of all plans. Default 2^30. */
  readonly maxBytes?: number
  /**
   * Called with the reason why the directory, or a plan in it, could not be used (ERR_PLAN_CACHE). Default: not
   * reported.
   */
  readonly onProblem?: (error: Error) => void
}

const directoryOptions = {
  maxFiles: integerOption({ least: 1, default: 64 }),
  maxBytes: integerOption({ least: 1, default: 2 ** 30 }),
  onProblem: functionOption,
} satisfies OptionTable<PlanDirectoryOptions>

const ending = '.plan'

/**
 * Keeps plans in files of a directory, for the option `planCache`; any number of processes may use it at the same time.
 * A file appears complete or not at all. Past the bounds, the plans that were used longest ago are removed. A directory
 * that cannot be read or written counts as empty; `onProblem` learns why.
 *
 * @throws ERR_ARGUMENT for a path that is not a text, bounds that are not integers >= 1, and `onProblem` that is not a
 *   function
 */
export function planDirectory(path: string, options: PlanDirectoryOptions = {}) {
  if (typeof path !== 'string') throw wrongValue('ERR_ARGUMENT', 'planDirectory: expected a path', path)
  checkOptions('planDirectory', directoryOptions, options)
  const { maxFiles, maxBytes, onProblem = () => {} } = withDefaults(directoryOptions, options)
  const failed = (cause: unknown): void => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    onProblem(new RankweaveError('ERR_PLAN_CACHE', `plans cannot be cached in ${path}: ${reason}`, { cause }))
  }
  return {
    onProblem,
    async read(key: string): Promise<Uint8Array | null> {
      const file = join(path, `${key}${ending}`)
      try {
        const status = await stat(file)
        // A pipe without a writer, or a device without an end, would be read without end.
        if (!status.isFile()) throw new Error(`expected a regular file at ${key}${ending}`)
        if (status.size > maxBytes) return null
        const bytes = await readFile(file)
        const now = new Date()
        // The time affects only the order in which plans are removed.
        await utimes(file, now, now).catch(() => {})
        return bytes
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') failed(error)
        return null
      }
    },
    async write(key: string, bytes: Uint8Array): Promise<void> {
      if (bytes.length > maxBytes) return
      const part = join(path, `${key}.${crypto.randomUUID()}.part`)
      try {
        makeDirectory(path)
        await writeFile(part, bytes, { flag: 'wx' })
        await rename(part, join(path, `${key}${ending}`))
        await removeOldest(path, `${key}${ending}`, maxFiles, maxBytes)
      } catch (error) {
        await rm(part, { force: true }).catch(() => {})
        failed(error)
      }
    },
  }
}

/**
 * Removes the oldest files except the plan written last. They include parts that a killed process left behind: these
 * are files of the directory like plans.
 */
async function removeOldest(
  path: string,
  written: string,
  maxFiles: number,
  maxBytes: number,
): Promise<void> {
  const files: { readonly file: string; readonly size: number; readonly usedAt: number }[] = []
  for (const name of await readdir(path)) {
    if (!/^[0-9a-f]{64}\.(plan|[0-9a-f-]{36}\.part)$/.test(name)) continue
    const file = join(path, name)
    // Another process may have removed the file.
    const found = await stat(file).catch(() => null)
    const usedAt = name === written ? Number.POSITIVE_INFINITY : (found?.mtimeMs ?? 0)
    if (found !== null) files.push({ file, size: found.size, usedAt })
  }
  files.sort((a, b) => b.usedAt - a.usedAt)
  let bytes = 0
  for (const [i, { file, size }] of files.entries()) {
    bytes += size
    if (i >= maxFiles || bytes > maxBytes) await rm(file, { force: true })
  }
}
