import type { Command } from 'commander'
import type { Reporter } from './reporter.js'

/** What the shell sees. */
export const exitCodes = { ok: 0, checkFailed: 1, badInput: 2, worldFailed: 3, defect: 70 } as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** A program's world failed; `cause` says why. */
export class WorldFailure extends Error {
  override readonly name = 'WorldFailure'
}

/** What a subcommand does: answers through the reporter, or throws what was wrong with its input. */
export type Action<A extends unknown[]> = (report: Reporter, ...args: A) => Promise<ExitCode>

/** Binds an action to this run's reporter and exit code. */
export type Act = <A extends unknown[]>(action: Action<A>) => (...args: A) => Promise<void>

/** One subcommand: adds itself to the program. */
export type AddCommand = (program: Command, act: Act) => void
