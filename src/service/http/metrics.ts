import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import type { Counter, Histogram, Registry } from 'prom-client'
import type { ServicePackages } from '../packages.js'

/** The values that are read for each request of the metrics, by name without prefix; each with its description. */
type Gauges = Readonly<Record<string, { readonly help: string; readonly value: () => number }>>

/** The counts of one service, as Prometheus reads them. Labels have few values: routes, never paths. */
export class ServiceMetrics {
  readonly #registry: Registry
  readonly #delay: IntervalHistogram
  readonly #requests: Counter<'method' | 'route' | 'status'>
  readonly #seconds: Histogram<'route'>

  constructor({ Counter, Gauge, Histogram, Registry }: ServicePackages, gauges: Gauges) {
    this.#registry = new Registry()
    this.#requests = new Counter({
      name: 'rankweave_http_requests_total',
      help: 'Requests that were answered.',
      labelNames: ['method', 'route', 'status'],
      registers: [this.#registry],
    })
    this.#seconds = new Histogram({
      name: 'rankweave_http_request_seconds',
      help: 'How long requests took.',
      labelNames: ['route'],
      buckets: [0.001, 0.005, 0.02, 0.05, 0.2, 1, 5, 30],
      registers: [this.#registry],
    })
    this.#delay = monitorEventLoopDelay({ resolution: 10 })
    this.#delay.enable()
    const delay = this.#delay
    const all: Gauges = {
      ...gauges,
      event_loop_delay_p99_seconds: {
        help: 'The 99th percentile of delays of the event loop, since it was last asked for.',
        value: () => {
          const seconds = delay.percentile(99) / 1e9
          delay.reset()
          return seconds
        },
      },
      memory_bytes: { help: 'Resident memory.', value: () => process.memoryUsage.rss() },
    }
    for (const [name, { help, value }] of Object.entries(all))
      new Gauge({
        name: `rankweave_${name}`,
        help,
        registers: [this.#registry],
        collect() {
          this.set(value())
        },
      })
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  request(method: string, route: string, status: number, ms: number): void {
    this.#requests.inc({ method, route, status })
    this.#seconds.observe({ route }, ms / 1000)
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }

  close(): void {
    this.#delay.disable()
  }
}
