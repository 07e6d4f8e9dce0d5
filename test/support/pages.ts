import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { pageBundle } from './page-bundle.js'

/** Debian's, unless the environment names another. */
export const executablePath = process.env['RANKWEAVE_CHROMIUM'] ?? '/usr/bin/chromium'

/** Why no browser can be started here, if so. @throws where one is required, as in CI */
export function whyNoBrowser(): string | undefined {
  if (existsSync(executablePath)) return undefined
  const reason = `${executablePath} does not exist; RANKWEAVE_CHROMIUM names another`
  if (process.env['RANKWEAVE_REQUIRE_CHROMIUM'] === '1') throw new Error(reason)
  return reason
}

/** A browser without a window, and a server of pages with one module. */
export class Pages {
  readonly #browser: Browser
  readonly #server: Server

  private constructor(browser: Browser, server: Server) {
    this.#browser = browser
    this.#server = server
  }

  /** @param code a module of TypeScript; what it exports is called by pages */
  static async open(code: string): Promise<Pages> {
    const module = pageBundle(code).outputFiles[0].text
    const server = createServer(({ url }, response) => {
      const isModule = url === '/module.js'
      response.setHeader('content-type', isModule ? 'text/javascript' : 'text/html')
      response.end(isModule ? module : '<!doctype html><title>a rank</title>')
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    return new Pages(await chromium.launch({ executablePath, args: ['--no-sandbox'] }), server)
  }

  /** A tab, as a user would open it. */
  async tab(): Promise<Page> {
    const context = await this.#browser.newContext()
    const page = await context.newPage()
    await page.goto(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`)
    return page
  }

  async close(): Promise<void> {
    await this.#browser.close()
    await new Promise((closed) => this.#server.close(closed))
  }
}

/** Calls an export of the module in a page. Arguments and result are JSON. */
export function callIn<T>(page: Page, name: string, ...args: readonly unknown[]): Promise<T> {
  // A text: what is compiled here would not run there.
  const call = `import('/module.js').then((module) => module[${JSON.stringify(name)}](...${JSON.stringify(args)}))`
  return page.evaluate(call) as Promise<T>
}
