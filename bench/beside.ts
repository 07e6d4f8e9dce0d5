import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Implementation } from './comparison.js'

/** What else the machine does: programs that compute without a pause, and short ones that are started again and again. */
export interface Condition {
  readonly text: string
  readonly busy: number
  readonly restarting: number
}

export const besideBusyProcess: Condition = { text: 'beside one busy process', busy: 1, restarting: 0 }

/** A quiet machine, and those on which people work. */
export const conditions: readonly Condition[] = [
  { text: 'beside nothing', busy: 0, restarting: 0 },
  besideBusyProcess,
  { text: 'beside two busy processes', busy: 2, restarting: 0 },
  { text: 'beside eight busy processes', busy: 8, restarting: 0 },
  { text: 'beside a program that starts again and again', busy: 0, restarting: 1 },
  { text: 'beside two such programs', busy: 0, restarting: 2 },
]

const busyProgram = 'for (;;);'
const shortProgram = 'for (const end = Date.now() + 50; Date.now() < end; );'

/** The same while other programs run. */
export function beside(
  implementation: Implementation,
  { text, busy, restarting }: Condition,
): Implementation {
  return {
    ...implementation,
    how: `${implementation.how}, ${text}`,
    async run() {
      const others = [
        ...Array.from({ length: busy }, () =>
          spawn(process.execPath, ['-e', busyProgram], { stdio: 'ignore' }),
        ),
        ...Array.from({ length: restarting }, restartingProgram),
      ]
      try {
        await Promise.all(others.map((other) => once(other, 'spawn')))
        return await implementation.run()
      } finally {
        others.forEach(end)
      }
    },
  }
}

/** A shell that leads a group of processes. */
function restartingProgram(): ChildProcess {
  const script = 'while :; do "$0" -e "$1"; done'
  return spawn('sh', ['-c', script, process.execPath, shortProgram], { stdio: 'ignore', detached: true })
}

function end(other: ChildProcess): void {
  if (other.pid !== undefined && other.spawnfile === 'sh') process.kill(-other.pid, 'SIGKILL')
  else other.kill('SIGKILL')
}
