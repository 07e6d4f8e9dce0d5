import type { Command } from 'commander'
import type { ExitCode } from '../output/exit-codes.js'
import type { Reporter } from '../output/reporter.js'

/** The action of a subcommand: it reports its result, or throws the error in its input. No exit code is success. */
type Action<A extends unknown[]> = (report: Reporter, ...args: A) => Promise<ExitCode> | Promise<void>

/** A function that binds an action to this run's reporter and exit code. */
export type Act = <A extends unknown[]>(action: Action<A>) => (...args: A) => Promise<void>

/** A function that adds arguments, options and action to a subcommand, which has its name and description. */
export type AddCommand = (command: Command, act: Act) => void
