import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { z } from 'zod'

/** A record that was found on the disk, whole as far as its lengths say. */
export interface Shelved<R> {
  readonly kind: 'record'
  readonly tenant: string
  readonly id: string
  readonly record: R
  /** Of its body; of its head where it has none. */
  readonly path: string
}

export interface Damaged {
  readonly kind: 'damaged'
  readonly tenant: string
  readonly id: string
  readonly reason: string
}

const tenantPattern = /^([0-9a-f]{32}|local)$/
const idPattern = /^[tpj]-[0-9a-f]{64}$/

/**
 * What is on one shelf of every tenant. Bodies without a head, which writes that were cut short leave, are
 * removed.
 */
export async function* readShelf(
  root: string,
  shelf: string,
  schema: z.ZodType,
  hasBody: boolean,
): AsyncGenerator<Shelved<unknown> | Damaged> {
  for (const tenant of await namesIn(root)) {
    if (!tenantPattern.test(tenant)) continue
    const folder = join(root, tenant, shelf)
    const names = new Set(await namesIn(folder))
    for (const name of names) {
      if (name.endsWith('.json')) {
        const id = name.slice(0, -'.json'.length)
        if (idPattern.test(id)) yield await readRecord(folder, tenant, id, schema, hasBody)
      } else if (!names.has(`${name}.json`)) await rm(join(folder, name), { recursive: true, force: true })
    }
  }
}

async function readRecord(
  folder: string,
  tenant: string,
  id: string,
  schema: z.ZodType,
  hasBody: boolean,
): Promise<Shelved<unknown> | Damaged> {
  const head = join(folder, `${id}.json`)
  const path = hasBody ? join(folder, id) : head
  try {
    const record = schema.parse(JSON.parse(await readFile(head, 'utf8'))) as {
      readonly id?: string
      readonly info?: { readonly id: string }
      readonly body?: { readonly bytes: number }
    }
    if ((record.info?.id ?? record.id) !== id) throw new Error('it is the record of another')
    if (hasBody && (await stat(path)).size !== record.body?.bytes)
      throw new Error('its body has another length')
    return { kind: 'record', tenant, id, record, path }
  } catch (error) {
    return { kind: 'damaged', tenant, id, reason: error instanceof Error ? error.message : String(error) }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}

export function damagedName(tenant: string, shelf: string, name: string): string {
  return `${tenant}.${shelf}.${name}`
}

/**
 * Work on the same thing is done in the order in which it was asked for; work on different things is not held
 * up.
 */
export class Turns {
  readonly #last = new Map<string, Promise<void>>()

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key)
    const result = before === undefined ? work() : before.then(work)
    const settled = result.then(
      () => {},
      () => {},
    )
    this.#last.set(key, settled)
    try {
      return await result
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key)
    }
  }

  /** Resolves when all work that has been asked for is done. */
  async idle(): Promise<void> {
    await Promise.all(this.#last.values())
  }
}
