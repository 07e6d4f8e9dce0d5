import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll } from 'vitest'

const running = new Set<ChildProcess>()

/**
 * Kills a process with all that it has started if it still runs when the test file has ended, its limit of
 * time has passed, or the run is interrupted. A launcher's processes are in groups of their own, and those
 * that poll would hold a core for good.
 */
export function endWithFile(child: ChildProcess): void {
  running.add(child)
  child.once('close', () => running.delete(child))
}

/** Kills them now. */
export function endRunning(): void {
  const children = [...running].flatMap(({ pid }) => pid ?? [])
  for (const pid of withDescendants(children)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  }
}

/** Those that started a process come before it, so that none is told of a death and starts another. */
function withDescendants(pids: readonly number[]): readonly number[] {
  const childrenOf = new Map<number, number[]>()
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const parent = parentOf(name)
    if (parent === null) continue
    childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), Number(name)])
  }
  const found = [...pids]
  for (const pid of found) found.push(...(childrenOf.get(pid) ?? []))
  return found
}

function parentOf(pid: string): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command before it may contain anything.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return null
  }
}

afterAll(endRunning)
// vitest ends its workers by a signal.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    endRunning()
    process.exit(1)
  })
}
