export { default as fastify, LogController } from 'fastify'
export { pino } from 'pino'
export { Counter, Gauge, Histogram, Registry } from 'prom-client'
export function databaseUrl(): string
