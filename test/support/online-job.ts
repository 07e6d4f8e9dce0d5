import type { Communicator } from 'rankweave'
import onlineCalls from './online-calls.js'

/** The same program with the number of calls as a word of the command. */
export default async function onlineJob(world: Communicator, [calls]: readonly string[]): Promise<void> {
  await onlineCalls(world, { calls: Number(calls), seed: 9 })
}
