import type { AddCommand } from './command.js'
import { hostCommand } from './host.js'
import { joinCommand } from './join.js'
import { runCommand } from './run.js'

/** Those that start programs. Without the others, which take longer to load than a short program runs. */
export const worldCommands: readonly AddCommand[] = [runCommand, hostCommand, joinCommand]
