import { RankweaveError } from '../errors.js'

/**
 * Lists with an entry for every process.
 *
 * @param lists by the names of their options
 * @throws ERR_WORLD naming the first list of another length
 */
export function requireEntries(
  where: string,
  lists: Readonly<Record<string, readonly unknown[] | undefined>>,
  processes: number,
): void {
  for (const [name, list] of Object.entries(lists)) {
    if (list === undefined || list.length === processes) continue
    const message = `${where}: expected ${name} with an entry for each of ${processes} processes, got ${list.length}`
    throw new RankweaveError('ERR_WORLD', message)
  }
}
