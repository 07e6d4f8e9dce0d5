import type { Command } from 'commander'
import * as z from 'zod'
import type { MapSource } from '../../neighborhood/choose/mapped-topology.js'
import { readText } from '../../text/byte-source.js'
import { withSource } from '../../text/source-file.js'
import { openInput } from './open-input.js'

/** Adds the option that places the vertices of a topology before it is planned. */
export function addMapOption(command: Command): Command {
  return command.option('--map <file>', 'place ranks on the machine first: auto, or a file of rankweave map')
}

/** The schema of {@link addMapOption}. A file is read at once, and parsed when the topology is known. */
export const mapSchema = {
  map: z
    .string()
    .transform((text) => readMapSource(text))
    .optional(),
}

/** @throws ERR_FILE */
function readMapSource(text: string): MapSource {
  if (text === 'auto') return text
  const read = withSource(text, (source) => readText(source, text), { open: openInput })
  return { file: text, text: read }
}
