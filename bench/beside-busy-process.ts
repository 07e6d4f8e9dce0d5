import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Implementation } from './comparison.js'

/** The same, while one other process computes without a pause. */
export function besideBusyProcess(implementation: Implementation): Implementation {
  return {
    ...implementation,
    how: `${implementation.how}, beside one busy process`,
    async run() {
      const busy = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' })
      await once(busy, 'spawn')
      try {
        return await implementation.run()
      } finally {
        busy.kill('SIGKILL')
      }
    },
  }
}
