import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { protocolPage } from '../../../../scripts/protocol-page.js'
import {
  maxControlDepth,
  maxControlLength,
  maxWelcomeLength,
} from '../../../../src/websocket/protocol/limits.js'
import { fromRendezvous, toRendezvous } from '../../../../src/websocket/protocol/messages.js'

const page = readFileSync(new URL('../../../../docs/websocket-protocol.md', import.meta.url), 'utf8')

it('the page of the protocol has the tables of its schemas: npm run docs:protocol', () => {
  expect(page).toBe(protocolPage(page))
  for (const kind of [...Object.keys(toRendezvous), ...Object.keys(fromRendezvous)]) {
    expect(page).toContain(`#### \`${kind}\``)
  }
})

it('the page of the protocol states the sizes of control messages', () => {
  for (const most of [maxControlLength, maxWelcomeLength]) {
    expect(page).toContain(`at most ${most.toLocaleString('en-US')}`)
  }
  expect(page).toContain(`nested at most ${maxControlDepth} deep`)
})
