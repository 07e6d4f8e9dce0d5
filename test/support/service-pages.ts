import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { executablePath } from './pages.js'

/** Git-ignored; `.ci/run` keeps it. */
const screenshots = join(fileURLToPath(new URL('../../', import.meta.url)), 'screenshots')

/** What pages say of themselves that nobody expects: errors, and requests that failed. */
export interface Watched {
  readonly page: Page
  readonly complaints: readonly string[]
}

/** A browser that shows the page of a service. */
export class ServicePages {
  readonly #browser: Browser
  readonly #url: string

  private constructor(browser: Browser, url: string) {
    this.#browser = browser
    this.#url = url
  }

  static async open(url: string): Promise<ServicePages> {
    // WebGL by the processor: there may be no other.
    const args = ['--no-sandbox', '--enable-unsafe-swiftshader']
    return new ServicePages(await chromium.launch({ executablePath, args }), url)
  }

  async tab(options: Parameters<Browser['newContext']>[0] = {}, url = this.#url): Promise<Watched> {
    const context: BrowserContext = await this.#browser.newContext({
      viewport: { width: 1400, height: 1000 },
      ...options,
    })
    const page = await context.newPage()
    // Nothing is said of how long it takes, and a test has its own limit.
    page.setDefaultTimeout(0)
    const complaints: string[] = []
    page.on('pageerror', ({ message }) => complaints.push(message))
    page.on('console', (message) => {
      // Swiftshader says that it is slow.
      if (message.type() === 'error' && !/WebGL|GPU stall/.test(message.text()))
        complaints.push(message.text())
    })
    page.on('response', (response) => {
      if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`)
    })
    await page.goto(url)
    return { page, complaints }
  }

  close(): Promise<void> {
    return this.#browser.close()
  }
}

/** The whole page as a picture, for people. */
export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true })
  await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true })
}
