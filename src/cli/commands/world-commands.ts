import type { AddCommand } from './command.js'
import { hostCommand } from './host.js'
import { joinCommand } from './join.js'
import { runCommand } from './run.js'

/** Those that start programs. */
export const worldCommands: readonly AddCommand[] = [runCommand, hostCommand, joinCommand]
