import { readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RankweaveError } from '../../errors.js'

/** Locks that stores of this process have. */
const held = new Set<string>()

/**
 * One process at a time. Each says first that it wants the folder, by a file that is named after it, and then
 * looks who else does: of two that start at the same time at least one sees the other, and yields. The
 * name has the id of the process and when it started, so that the file of a process that was killed does not
 * keep its successor out, even where the system gave its id to another.
 *
 * @returns what gives the folder up
 * @throws ERR_STORE while another process has it; what the system throws
 */
export function lockFolder(root: string): () => void {
  const folder = realpathSync(root)
  const own = nameOf(process.pid)
  const path = join(folder, own)
  if (held.has(path)) throw inUse(process.pid, path)
  writeFileSync(path, '', { mode: 0o600 })
  held.add(path)
  const unlock = () => {
    held.delete(path)
    try {
      rmSync(path, { force: true })
    } catch {
      // The disk may be read-only by now. When this process is gone the file means nothing.
    }
  }
  try {
    for (const name of readdirSync(folder)) {
      const pid = Number(/^lock\.(\d+)\.\d*$/.exec(name)?.[1])
      if (!(pid > 0) || name === own) continue
      if (name === nameOf(pid)) throw inUse(pid, join(folder, name))
      rmSync(join(folder, name), { force: true })
    }
  } catch (error) {
    unlock()
    throw error
  }
  return unlock
}

function inUse(pid: number, path: string): RankweaveError {
  return new RankweaveError('ERR_STORE', `the data is in use by process ${pid} (${path})`)
}

/** The file of a process, with when it started where the system tells; '' for one that is not there. */
function nameOf(pid: number): string {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return ''
  }
  return `lock.${pid}.${startOf(pid)}`
}

/**
 * Field 22 of `/proc/PID/stat`; the name in field 2 may contain anything but ends with the last parenthesis.
 */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}
