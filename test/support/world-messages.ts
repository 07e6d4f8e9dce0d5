import { type WorldKind, worldRequests } from '../../src/client/protocol/worlds.js'
import { type Schema, SchemaValues, schemaOf } from './schema-values.js'

const schemas = (Object.keys(worldRequests) as WorldKind[]).map((kind) => schemaOf(worldRequests[kind]))

/** Messages of every kind, most of them valid, and some that are no messages at all. */
export function worldMessages(seed: number): (id: number) => string {
  const values: SchemaValues = new SchemaValues(seed, (_, { pattern = '' }: Schema) => {
    // Names that others use too, so that worlds become complete.
    if (pattern.includes('{1,64}') && values.random() < 0.8) return values.one([...'abc'])
    return pattern.includes('world|') && values.random() < 0.5 ? 'world' : undefined
  })
  return (id) => {
    const luck = values.random()
    if (luck < 0.02) return values.oddity()
    const message = values.objectOf(values.one(schemas), 0.5)
    // A replayed or early one now and then.
    if ('id' in message) message['id'] = luck < 0.05 ? values.below(id + 2) : id
    return JSON.stringify(message)
  }
}
