import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { RankweaveError } from '../../src/errors.js'
import type { CommonNeighbor } from '../../src/neighborhood/strategies/common-neighbor.js'
import type { JobsOptions } from '../../src/service/jobs/jobs.js'
import type { TaskProgress, Tasks } from '../../src/service/jobs/task.js'

/** A plan that is asked for, and does not end by itself. */
export interface HeldPlan {
  /** Friends per group. */
  readonly k: number
  readonly isAborted: () => boolean
  progress(progress: TaskProgress): void
  /** Ends with this schedule. */
  finish(text?: string): void
  fail(error: unknown): void
}

/** Takes the place of the threads that plan: tasks end when the test says so. */
export function heldPool({ heedsAbort = true } = {}) {
  const held: HeldPlan[] = []
  const waiting: (() => void)[] = []
  const run = (_kind: string, input: Tasks['plan']['input'], options: RunOptions = {}) =>
    new Promise<Tasks['plan']['output']>((resolve, reject) => {
      const { signal } = options
      if (signal?.aborted === true) return reject(new RankweaveError('ERR_CANCELLED', 'cancelled'))
      if (heedsAbort)
        signal?.addEventListener('abort', () => reject(new RankweaveError('ERR_CANCELLED', 'cancelled')))
      held.push({
        k: (input.request.strategy as CommonNeighbor).k,
        isAborted: () => signal?.aborted === true,
        progress: (progress) => options.onProgress?.(progress),
        finish: (text = 'a schedule') => {
          writeFileSync(input.into, text)
          const body = { bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') }
          resolve({ statistics: {}, body })
        },
        fail: reject,
      })
      options.onState?.('running')
      waiting.shift()?.()
    })
  /** The n-th plan that is asked for, when it is. */
  const asked = async (index: number): Promise<HeldPlan> => {
    while (held[index] === undefined) await new Promise<void>((resolve) => waiting.push(resolve))
    return held[index]
  }
  return { held, asked, pool: { run } as unknown as JobsOptions['pool'] }
}

interface RunOptions {
  readonly signal?: AbortSignal
  readonly onState?: (state: 'running' | 'queued') => void
  readonly onProgress?: (progress: TaskProgress) => void
}
