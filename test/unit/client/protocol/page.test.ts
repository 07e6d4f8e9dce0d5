import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { httpRoutes } from '../../../../scripts/http-routes.js'
import { servicePage } from '../../../../scripts/protocol-page.js'
import { serviceSchema } from '../../../../scripts/service-protocol.js'
import { maxListedRanks, maxMessageDepth } from '../../../../src/client/protocol/limits.js'
import { worldEvents, worldRequests } from '../../../../src/client/protocol/worlds.js'

const doc = (name: string) => readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8')

it('the page of the service has the tables of its schemas, and its JSON Schema is theirs: npm run docs:protocol', () => {
  const page = doc('service-protocol.md')
  expect(page).toBe(servicePage(page))
  for (const kind of [...Object.keys(worldRequests), ...Object.keys(worldEvents)]) {
    expect(page).toContain(`#### \`${kind}\``)
  }
  for (const { method, path } of httpRoutes) {
    expect(page).toContain(`#### \`${method} ${path.replace(/:(\w+)/g, '{$1}')}\``)
  }
  expect(page).toContain(`at most ${maxListedRanks.toLocaleString('en-US')} ranks`)
  expect(page).toContain(`nested at most ${maxMessageDepth} deep`)
  expect(doc('service-protocol.schema.json')).toBe(serviceSchema())
})
