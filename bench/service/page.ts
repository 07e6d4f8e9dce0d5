import type { Page } from 'playwright-core'
import { ServiceClient } from '../../src/client/service-client.js'
import { whyNoBrowser } from '../../test/support/pages.js'
import { ServicePages } from '../../test/support/service-pages.js'
import { type Figure, ownFigure } from '../bench.js'
import { RunningService } from './running-service.js'

/** 4,096 ranks and 327,680 edges. */
const topology = 'moore:64x64:r=4'
const machine = 'cluster:nodes=103,cores=40,profile=simgrid-fast'
/** Tasks of a page that are longer than this are felt. */
const mostMs = 200

/** How the page answers: zooming and moving by input events, as a browser gives them to a page. */
export async function* page(quick: boolean): AsyncGenerator<Figure> {
  const reason = whyNoBrowser()
  if (reason !== undefined) throw new Error(reason)
  yield* await RunningService.use(async ({ url }) => {
    const client = new ServiceClient({ url })
    await client.upload(topology, { format: 'spec', name: topology })
    const pages = await ServicePages.open(url)
    try {
      const { page } = await pages.tab()
      return await watched(page, quick ? 10 : 30)
    } finally {
      await pages.close()
    }
  })
}

/** @param events of input, of each kind */
async function watched(page: Page, events: number): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  const watch = async (what: string, act: () => Promise<void>, target: number | null = null) => {
    await forget(page)
    await act()
    const tasks = await longTasks(page)
    const longest = tasks.reduce((most, ms) => Math.max(most, ms), 0)
    const details = { suite: 'page', topology, events, tasksOver50Ms: tasks.length }
    figures.push(ownFigure(`longest task of the page: ${what}`, 'ms', [longest], target, details))
  }
  await watch('open the topology', () => open(page))
  await watch('zoom the graph', () => zoom(page, '.graph', events), mostMs)
  await watch('move the graph', () => drag(page, '.graph', events), mostMs)
  await watch('plan, and draw the plan', () => drawPlan(page))
  await watch('zoom the graph of the plan', () => zoom(page, '.graph', events), mostMs)
  await watch('zoom the timeline', () => zoom(page, '.timeline-canvas', events), mostMs)
  await watch('move the timeline', () => drag(page, '.timeline-canvas', events), mostMs)
  await watch('pick a rank', () => pick(page, 2080))
  await watch('zoom with a rank picked', () => zoom(page, '.graph', events), mostMs)
  return figures
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
