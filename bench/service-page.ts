import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Page } from 'playwright-core'
import { ServiceClient } from '../src/client/service-client.js'
import { serve } from '../src/service/serve/serve.js'
import { whyNoBrowser } from '../test/support/pages.js'
import { ServicePages } from '../test/support/service-pages.js'
import { type Bench, ownFigure } from './bench.js'

/** 4,096 ranks and 327,680 edges. */
const topology = 'moore:64x64:r=4'
const machine = 'cluster:nodes=103,cores=40,profile=simgrid-fast'
/** Tasks of a page that are longer than this are felt. */
const mostMs = 200

/** How the page answers: zooming and moving by input events, as a browser gives them to a page. */
export const servicePageBench: Bench = {
  name: 'service-page',
  question: `Does the page of a service answer within ${mostMs} ms while ${topology} is zoomed and moved?`,
  async *measure({ quick = false } = {}) {
    const reason = whyNoBrowser()
    if (reason !== undefined) throw new Error(reason)
    const data = mkdtempSync(join(tmpdir(), 'rankweave-page-bench-'))
    const service = await serve({ data, logger: pino({ level: 'silent' }) })
    try {
      const client = new ServiceClient({ url: service.url })
      const { id } = await client.upload(topology, { format: 'spec', name: topology })
      // As the form of the page asks for it.
      await client.plan({ topology: id, strategy: 'common-neighbor', k: 2, machine })
      const pages = await ServicePages.open(service.url)
      try {
        const { page } = await pages.tab()
        const watch = async function* (name: string, act: () => Promise<void>) {
          await forget(page)
          await act()
          const tasks = await longTasks(page)
          const longest = tasks.reduce((most, ms) => Math.max(most, ms), 0)
          yield ownFigure(name, 'ms, longest task', [longest], mostMs, { tasksOver50Ms: tasks.length })
        }
        yield* watch('open', () => open(page))
        yield* watch('zoom the graph', () => zoom(page, '.graph', quick ? 10 : 60))
        yield* watch('move the graph', () => drag(page, '.graph', quick ? 10 : 60))
        yield* watch('plan and draw', () => drawPlan(page))
        yield* watch('zoom the graph of a plan', () => zoom(page, '.graph', quick ? 10 : 60))
        yield* watch('zoom the timeline', () => zoom(page, '.timeline-canvas', quick ? 10 : 60))
        yield* watch('move the timeline', () => drag(page, '.timeline-canvas', quick ? 10 : 60))
        yield* watch('pick a rank', () => pick(page, 2080))
        yield* watch('zoom with a rank picked', () => zoom(page, '.graph', quick ? 10 : 60))
      } finally {
        await pages.close()
      }
    } finally {
      await service.close()
      rmSync(data, { recursive: true, force: true })
    }
  },
}

/** Begins to count tasks of 50 ms and more. A text: what is compiled here would not run there. */
const forgetting = `
  globalThis.longTasks ??= (() => {
    const tasks = []
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) tasks.push(duration)
    }).observe({ type: 'longtask' })
    return tasks
  })()
  longTasks.length = 0
`

async function forget(page: Page): Promise<void> {
  await page.evaluate(forgetting)
}

/** Milliseconds of the long tasks so far; the observer is told of them a little later. */
async function longTasks(page: Page): Promise<readonly number[]> {
  await page.waitForTimeout(300)
  return page.evaluate('[...longTasks]')
}

async function open(page: Page): Promise<void> {
  await page.getByRole('button', { name: topology }).click()
  await page.locator('.graph canvas').first().waitFor()
  // Layouts are drawn when they are ready.
  await page.waitForTimeout(3000)
}

async function drawPlan(page: Page): Promise<void> {
  await page.fill('input[name=machine]', machine)
  await page.getByRole('button', { name: 'Plan', exact: true }).click()
  await page.locator('.timeline-canvas').waitFor({ timeout: 120_000 })
  await page.locator('.graph canvas').first().waitFor()
  await page.waitForTimeout(3000)
}

async function centerOf(page: Page, selector: string): Promise<readonly [number, number]> {
  const element = page.locator(selector).first()
  await element.scrollIntoViewIfNeeded()
  const { x, y, width, height } = (await element.boundingBox())!
  return [x + width / 2, y + height / 2]
}

/** Wheel events, in and out. */
async function zoom(page: Page, selector: string, events: number): Promise<void> {
  const [x, y] = await centerOf(page, selector)
  await page.locator(selector).first().focus()
  await page.mouse.move(x, y)
  for (let n = 0; n < events; n++) {
    await page.mouse.wheel(0, n < events / 2 ? -120 : 120)
    await page.waitForTimeout(16)
  }
}

async function drag(page: Page, selector: string, events: number): Promise<void> {
  const [x, y] = await centerOf(page, selector)
  await page.mouse.move(x, y)
  await page.mouse.down()
  for (let n = 0; n < events; n++) {
    const angle = (2 * Math.PI * n) / events
    await page.mouse.move(x + 80 * Math.sin(angle), y + 40 * (1 - Math.cos(angle)))
    await page.waitForTimeout(16)
  }
  await page.mouse.up()
}

async function pick(page: Page, rank: number): Promise<void> {
  await page.fill('input[name=rank]', String(rank))
  await page.locator('.rank').getByRole('button', { name: 'Show' }).click()
  await page.locator('.rank-result h3').waitFor()
}
