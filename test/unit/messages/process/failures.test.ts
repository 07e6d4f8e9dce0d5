import { expect, it } from 'vitest'
import { RankweaveError } from '../../../../src/errors.js'
import { Failures } from '../../../../src/messages/process/failures.js'
import { worldLayout } from '../../../../src/messages/process/world-layout.js'

function listened() {
  const failures = new Failures(worldLayout(7, ['a', 'a', 'a', 'b'], [2, 2, 1, 2]))
  const seen: string[] = []
  for (const name of ['first', 'second']) {
    failures.listen({
      peerLost: (peer, { code }) => seen.push(`${name}: ${peer} ${code}`),
      ended: ({ code }) => seen.push(`${name}: ${code}`),
    })
  }
  return { failures, seen }
}

it('a loss is reported once to every listener, in the order in which they were added', () => {
  const { failures, seen } = listened()
  expect(failures.lose(3, 'killed')).toBe(true)
  expect(failures.lose(3, 'again')).toBe(false)
  expect(seen).toEqual(['first: 3 ERR_PEER_LOST', 'second: 3 ERR_PEER_LOST'])
  expect(failures.lostPeer(2)).toBeUndefined()
  expect(failures.lostPeer(3)).toMatchObject({
    code: 'ERR_PEER_LOST',
    message: 'process 3 with world ranks 5-6 is lost: killed',
    details: { process: 3 },
  })
})

it('the first error that ends the world remains its error', () => {
  const { failures, seen } = listened()
  const error = new RankweaveError('ERR_ABORTED', 'enough')
  expect(failures.ended).toBeUndefined()
  failures.end(error)
  failures.end(new RankweaveError('ERR_DEADLOCK', 'later'))
  expect(failures.ended).toBe(error)
  expect(seen).toEqual(['first: ERR_ABORTED', 'second: ERR_ABORTED'])
})
