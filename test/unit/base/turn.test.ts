import { expect, it } from 'vitest'
import { cancelTurn, inLaterTurn, laterTurn, MessageTurns } from '../../../src/base/turn.js'

it('runs functions in order in later turns, but for those that were cancelled', async () => {
  const ran: string[] = []
  inLaterTurn((name) => ran.push(name), 'a')
  cancelTurn(inLaterTurn((name) => ran.push(name), 'b'))
  inLaterTurn((name) => ran.push(name), 'c')
  await Promise.resolve()
  expect(ran).toEqual([])
  await laterTurn()
  expect(ran).toEqual(['a', 'c'])
})

it('does so with messages, where there is no setImmediate', async () => {
  const turns = new MessageTurns()
  const ran: string[] = []
  turns.set((name) => ran.push(name), 'a')
  turns.cancel(turns.set((name) => ran.push(name), 'b'))
  await Promise.resolve()
  expect(ran).toEqual([])
  await new Promise<void>((resolve) => turns.set(resolve, undefined))
  expect(ran).toEqual(['a'])
  turns.close()
})
