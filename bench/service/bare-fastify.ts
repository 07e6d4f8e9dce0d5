// What bench/service/health.ts compares the service with: the same framework, and one route.
import Fastify from 'fastify'

const app = Fastify()
app.get('/healthz', () => ({ status: 'ok' }))
console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
