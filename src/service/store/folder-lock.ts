import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { RankweaveError, reasonText } from '../../errors.js'

/**
 * One process at a time: a file holds the id of the process and when it started, so that the file of a process that was killed does
 * not keep its successor out, even where the system gave its id to another.
 *
 * @returns what gives the folder up
 * @throws ERR_STORE while another process has it
 */
export function lockFolder(path: string): () => void {
  const own = nameOf(process.pid)
  for (let attempt = 0; ; attempt++) {
    try {
      writeFileSync(path, own, { flag: 'wx', mode: 0o600 })
      return () => unlinkSync(path)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST' || attempt === 3)
        throw new RankweaveError('ERR_STORE', `'${path}' cannot be written: ${reasonText(cause)}`, { cause })
    }
    const holder = readFileSync(path, 'utf8')
    const pid = Number(holder.split(' ')[0])
    if (holder === own || (pid > 0 && pid !== process.pid && holder === nameOf(pid)))
      throw new RankweaveError('ERR_STORE', `the data is in use by process ${pid} (${path})`)
    unlinkSync(path)
  }
}

/** The id of a process, and when it started where the system tells; '' for one that is not there. */
function nameOf(pid: number): string {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return ''
  }
  return `${pid} ${startOf(pid)}`
}

/** Field 22 of `/proc/PID/stat`; the name in field 2 may contain anything but ends with the last parenthesis. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}
