import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

const pollMs = 100

/**
 * Builds what is out of date, as the only run of this checkout that does; another one waits until it has ended, and
 * finds nothing left to build.
 *
 * @param checkout its path, which ends with a slash
 */
export function buildAlone(checkout: string, isOutOfDate: () => boolean, build: () => void): void {
  if (!isOutOfDate()) return
  const lock = `${checkout}.compiled/lock`
  mkdirSync(`${checkout}.compiled`, { recursive: true })
  while (!isLocked(lock)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pollMs)
  try {
    if (isOutOfDate()) build()
  } finally {
    rmSync(lock, { force: true })
  }
}

/** Takes the lock, unless a process that lives has it. */
function isLocked(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  try {
    // The file is empty until its owner has written its number.
    const owner = readFileSync(lock, 'utf8')
    if (owner !== '') process.kill(Number(owner), 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') rmSync(lock, { force: true })
  }
  return false
}
