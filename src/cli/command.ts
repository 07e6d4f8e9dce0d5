import type { Command } from 'commander'
import { isRankweaveError } from '../errors.js'
import type { Reporter } from './output/reporter.js'

/** What the shell sees. */
export const exitCodes = { ok: 0, checkFailed: 1, badInput: 2, worldFailed: 3, defect: 70 } as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** A program's world failed; `cause` says why. */
export class WorldFailure extends Error {
  override readonly name = 'WorldFailure'
}

/** There was no world yet. */
const notStarted = ['ERR_PROGRAM', 'ERR_MPI_LAUNCHER', 'ERR_MPI_LIBRARY', 'ERR_MPI_KOFFI'] as const

/** What to throw when `run` has. */
export function worldFailure(cause: unknown): unknown {
  if (isRankweaveError(cause, ...notStarted)) return cause
  return new WorldFailure('the world failed', { cause })
}

/** What a subcommand does: answers through the reporter, or throws what was wrong with its input. */
export type Action<A extends unknown[]> = (report: Reporter, ...args: A) => Promise<ExitCode>

/** Binds an action to this run's reporter and exit code. */
export type Act = <A extends unknown[]>(action: Action<A>) => (...args: A) => Promise<void>

/** One subcommand: adds itself to the program. */
export type AddCommand = (program: Command, act: Act) => void
