import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { RankFailure } from '../../../../src/calls/matching/collective-call.js'
import { Slot } from '../../../../src/calls/matching/lane.js'
import { RankweaveError } from '../../../../src/errors.js'

/** Rejections that no handler has seen in this turn, while the test runs. */
function unhandledRejections(): unknown[] {
  const others = process.listeners('unhandledRejection')
  const unhandled: unknown[] = []
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', (reason) => unhandled.push(reason))
  onTestFinished(() => {
    process.removeAllListeners('unhandledRejection')
    for (const listener of others) process.on('unhandledRejection', listener)
  })
  return unhandled
}

const error = new RankweaveError('ERR_COUNT', 'of one rank')

function joined(): Slot {
  const slot = new Slot(0, 2)
  slot.call = { signature: { name: 'allgather' }, run: () => undefined }
  slot.isJoint = true
  return slot
}

it.each(['before', 'after'])(
  'a rank that fails alone is told of, if nobody awaits the call: %s the promise is made',
  async (when) => {
    const unhandled = unhandledRejections()
    const slot = joined()
    if (when === 'after') void slot.jointPromise()
    slot.resolve([new RankFailure(error), 1])
    if (when === 'before') void slot.jointPromise()
    await nextTurn()
    expect(unhandled).toEqual([error])
  },
)

it.each(['before', 'after'])(
  'a communicator that fails need not be awaited: %s the promise is made',
  async (when) => {
    const unhandled = unhandledRejections()
    const slot = joined()
    const late = when === 'after' ? slot.jointPromise() : undefined
    slot.reject(error)
    const promise = late ?? slot.jointPromise()
    await nextTurn()
    expect(unhandled).toEqual([])
    await expect(promise).rejects.toBe(error)
  },
)
