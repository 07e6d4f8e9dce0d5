import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WorldMember } from '../../src/client/world-member.js'
import { whyNoBrowser } from '../support/pages.js'
import { startService } from '../support/service.js'
import { ServicePages, screenshot } from '../support/service-pages.js'

const matrix = fileURLToPath(new URL('../matrices/dwt_193.mtx', import.meta.url))
const reason = whyNoBrowser()
if (reason !== undefined) console.warn(`the page of a service is not tested: ${reason}`)

/** The line on top says that what was asked for is there. */
const status = (page: Page, text: string) => page.locator('#announcements', { hasText: text }).waitFor()

describe.skipIf(reason !== undefined)('the page of a service, in a browser', () => {
  let started: Awaited<ReturnType<typeof startService>>
  let pages: ServicePages
  beforeAll(async () => {
    started = await startService({ limits: { workers: 1 } })
    pages = await ServicePages.open(started.service.url)
  })
  afterAll(async () => {
    await pages?.close()
    await started?.end()
  })

  it('uploads a matrix, plans it, shows a rank, plans it again with another k, and saves the report', async () => {
    const { page, complaints } = await pages.tab({ colorScheme: 'light' })
    await page.setInputFiles('input[name=file]', matrix)
    await page.locator('form.what-if').waitFor()
    await status(page, 'dwt_193.mtx: 193 ranks')
    await page.getByRole('button', { name: 'Plan', exact: true }).click()
    await status(page, 'done')
    await page.locator('.timeline canvas').waitFor()
    const first = await page.locator('.views').textContent()

    await page.fill('input[name=rank]', '17')
    await page.locator('.rank').getByRole('button', { name: 'Show' }).click()
    await page.getByRole('heading', { name: 'Rank 17' }).waitFor()
    await status(page, 'Rank 17: sends to 17 ranks, receives from 17 ranks, ')
    expect(await page.locator('.rank-result table tbody tr').count()).toBeGreaterThan(0)
    await page.getByRole('button', { name: 'rank 57' }).first().click()
    await status(page, 'Rank 57: ')
    await screenshot(page, 'service-rank')

    await page.fill('input[name=k]', '4')
    await page.getByRole('button', { name: 'Plan', exact: true }).click()
    await status(page, 'done')
    await expect.poll(() => page.locator('.views').textContent()).not.toBe(first)
    // The rank that was picked stays so.
    await page.getByRole('heading', { name: 'Rank 57' }).waitFor()
    await page.getByRole('radio', { name: /direct sends/ }).check({ force: true })
    await page.locator('.timeline canvas').waitFor()

    const saving = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download report' }).click()
    const report = readFileSync(await (await saving).path(), 'utf8')
    expect(report).toContain('dwt_193.mtx')
    expect(report).not.toMatch(/(?:src|href)="(?!data:|#)/)
    await screenshot(page, 'service-light')
    expect(complaints).toEqual([])
    await page.context().close()
    await opensAlone(report)
  })

  /** A report from a mail: no network, no error, and paper. */
  const opensAlone = async (report: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'rankweave-report-'))
    writeFileSync(join(folder, 'report.html'), report)
    const { page, complaints } = await pages.tab(
      { offline: true },
      pathToFileURL(join(folder, 'report.html')).href,
    )
    const loaded: string[] = []
    page.on('request', (request) => loaded.push(request.url()))
    await page.reload()
    await page.locator('.graph canvas').first().waitFor({ state: 'attached' })
    await page.locator('.timeline-canvas').waitFor()
    await page.getByRole('heading', { name: 'dwt_193.mtx' }).waitFor()
    await screenshot(page, 'report')
    expect((await page.pdf({ printBackground: true })).subarray(0, 4).toString()).toBe('%PDF')
    expect(loaded.filter((url) => !/^(?:file|data|blob):/.test(url))).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
    rmSync(folder, { recursive: true })
  }

  it('shows worlds as they begin, split and end', async () => {
    const { page, complaints } = await pages.tab({ colorScheme: 'dark' })
    const worlds = page.locator('.worlds')
    await worlds.getByText('none').waitFor()
    const { url } = started.service
    const [one, two] = await Promise.all([WorldMember.connect({ url }), WorldMember.connect({ url })])
    const joining = one.join({ name: 'seen', members: 2 })
    await worlds.getByText('waiting, 1 of 2 members').waitFor()
    await Promise.all([joining, two.join({ name: 'seen' })])
    await worlds.getByText('running, 2 members').waitFor()
    await Promise.all([one.split('world', 3), two.split('world', 3)])
    await worlds.getByText('split color 3: 2 ranks').waitFor()
    await page.fill('input[name=spec]', 'moore:8x8:r=2')
    await page.getByRole('button', { name: 'Open' }).click()
    await status(page, 'moore:8x8:r=2: 64 ranks')
    await page.getByRole('button', { name: 'Plan', exact: true }).click()
    await status(page, 'done')
    await page.locator('.timeline canvas').waitFor()
    await screenshot(page, 'service-dark')
    await Promise.all([one.leave(), two.leave()])
    await worlds.getByText('none').waitFor()
    await Promise.all([one.close(), two.close()])
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('fits a narrow window, picks a rank of many, and shows nodes in rows where there are many', async () => {
    const { page, complaints } = await pages.tab({ viewport: { width: 400, height: 900 } })
    await page.fill('input[name=spec]', 'moore:48x48:r=1')
    await page.getByRole('button', { name: 'Open' }).click()
    await status(page, 'moore:48x48:r=1: 2,304 ranks')
    await page.getByRole('button', { name: 'Plan', exact: true }).click()
    await status(page, 'done')
    await page.getByRole('radio', { name: 'nodes' }).check({ force: true })
    await page.getByText('2 nodes per row').first().waitFor()
    await page.fill('input[name=rank]', '1080')
    await page.locator('.rank').getByRole('button', { name: 'Show' }).click()
    await status(page, 'Rank 1080: sends to 8 ranks')
    await screenshot(page, 'service-narrow')
    // A text: what is compiled here would not run there.
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(400)
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('can be used by keyboard only', async () => {
    const { page, complaints } = await pages.tab()
    const press = async (...keys: readonly string[]) => {
      for (const key of keys) await page.keyboard.press(key)
    }
    /** Tabs to what has the focus next, until it is this. */
    const tabTo = async (selector: string) => {
      for (let n = 0; n < 200; n++) {
        await press('Tab')
        // A text: what is compiled here would not run there.
        const isReached = `document.activeElement?.matches(${JSON.stringify(selector)})`
        if (await page.evaluate(isReached)) return
      }
      throw new Error(`${selector} is not reached by Tab`)
    }
    await tabTo('input[name=spec]')
    await press('Control+a')
    await page.keyboard.type('moore:6x6:r=1')
    await press('Enter')
    await status(page, 'moore:6x6:r=1: 36 ranks')
    await tabTo('input[name=k]')
    await press('ArrowUp', 'Enter')
    await status(page, 'done')
    await tabTo('.graph')
    await press('PageDown')
    await status(page, 'Rank 0: sends to 8 ranks')
    await press('PageUp')
    await status(page, 'Rank 35: ')
    await press('+', 'ArrowLeft', '0', 'Escape')
    await tabTo('.heat-map')
    await press('ArrowDown', 'ArrowRight')
    await status(page, 'rank 0 → rank 1: ')
    await tabTo('.timeline-canvas')
    await press('+', 'ArrowRight')
    await status(page, ' to ')
    await tabTo('input[name=rank]')
    await press('Control+a')
    await page.keyboard.type('5')
    await press('Enter')
    await status(page, 'Rank 5: ')
    expect(complaints).toEqual([])
    await page.context().close()
  })
})
