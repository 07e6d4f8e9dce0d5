// `rankweave serve` loads these packages through this one, so that only who serves installs them.
export { default as fastify, LogController } from 'fastify'
export { pino } from 'pino'
export { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** The URL of the database. Throws where it could not be installed. */
export const databaseUrl = () => import.meta.resolve('classic-level')
