import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Texts that processes leave for the test, by name, in its own folder; they outlive who wrote them. */
export class FileNotes {
  readonly folder: string

  constructor(folder = mkdtempSync(join(tmpdir(), 'rankweave-notes-'))) {
    this.folder = folder
  }

  /** Whole at any time. */
  write(name: string, text: string): void {
    const file = join(this.folder, name)
    writeFileSync(`${file}.draft`, text)
    renameSync(`${file}.draft`, file)
  }

  read(name: string): string | undefined {
    try {
      return readFileSync(join(this.folder, name), 'utf8')
    } catch {
      return undefined
    }
  }

  /** The text, once it is there; rejects when `until` settles before. */
  async wait(name: string, until: Promise<unknown>): Promise<string> {
    let over = false
    const end = () => {
      over = true
    }
    until.then(end, end)
    for (;;) {
      const text = this.read(name)
      if (text !== undefined) return text
      if (over) throw new Error(`no process has written ${name}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
