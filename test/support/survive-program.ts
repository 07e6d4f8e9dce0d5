import { exit } from 'node:process'
import type { Communicator } from 'rankweave'

/** Which process ends itself, and whether the others acknowledge that. */
export interface SurviveArgs {
  readonly victim: number
  readonly acknowledge: boolean
  /** The last rank throws when all has gone well. */
  readonly fail?: boolean
}

/** What a rank that lived has seen. */
export interface Survived {
  readonly met: string
  readonly failed: readonly number[]
  readonly refused: string
  readonly refusedFlag: unknown
  readonly flag: number
  readonly size: number
  readonly ranks: readonly number[]
  /** What `agree` says when the last process has returned; there: nothing. */
  readonly late: string
}

/** One process ends itself in the middle of a barrier; the others agree, shrink and continue. */
export default async function main(
  world: Communicator,
  { victim, acknowledge, fail = false }: SurviveArgs,
): Promise<Survived | string> {
  // Who ends at once may take along what it has not handed to the network: then this barrier fails, too.
  await errorOf(world.barrier())
  if (world.location.process === victim) exit(7)
  const met = await codeOf(world.barrier())
  await world.revoke()
  if (!acknowledge) return met
  const { code: refused, details } = await errorOf(world.agree(world.rank === 1 ? 6 : 7))
  await world.ackFailed()
  const failed = [...(await world.failed())]
  const flag = await world.agree(world.rank === 1 ? 6 : 7)
  const rest = await world.shrink()
  const ranks = [...(await rest.allgather(Int32Array.of(world.rank)))]
  if (fail && world.rank === world.size - 1) throw new Error('another matter')
  const late = rest.rank < rest.size - 2 ? await refusalOf(rest.agree(1)) : ''
  return { late, met, failed, refused, refusedFlag: details?.['flag'], flag, size: rest.size, ranks }
}

interface Caught {
  readonly code: string
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
}

function errorOf(promise: Promise<unknown>): Promise<Caught> {
  return promise.then(
    () => ({ code: 'ok', message: '' }),
    (error) => error as Caught,
  )
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return (await errorOf(promise)).code
}

async function refusalOf(promise: Promise<unknown>): Promise<string> {
  const { code, message } = await errorOf(promise)
  return `${code}: ${message}`
}
