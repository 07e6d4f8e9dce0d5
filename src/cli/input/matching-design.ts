import type { Command } from 'commander'
import { mailboxDesigns } from '../../messages/process/matching-options.js'
import { oneOf } from './options.js'

/** Adds the option of every subcommand that runs or opens a world whose messages the user's program matches. */
export function addMatchingDesignOption(command: Command): Command {
  return command.option(
    '--matching-design <name>',
    `structure of matching queues: ${mailboxDesigns.join(', ')} (default: ${mailboxDesigns[0]})`,
  )
}

export const matchingDesignSchema = { matchingDesign: oneOf(...mailboxDesigns).optional() }
