/** Where a connection that a proxy accepted is to lead, and between whom it is. */
export interface ProxyRoute {
  /** A `ws:` URL. */
  readonly target: string
  /** What the one who dials calls this connection: faults apply by it. */
  readonly link: string
}

/** The address, at a proxy, that leads to `target`: the proxy reads the route from the request line. */
export function routedUrl(proxy: string, { target, link }: ProxyRoute): string {
  const url = new URL(proxy)
  url.searchParams.set('to', target)
  url.searchParams.set('link', link)
  return url.href
}

/**
 * The route in a request's path. Without one: to `target`, by its path; undefined where there is none either.
 */
export function routeOf(path: string, target: string | undefined): ProxyRoute | undefined {
  const { searchParams, pathname } = new URL(path, 'ws://proxy')
  const to = searchParams.get('to')
  if (to !== null) return { target: to, link: searchParams.get('link') ?? '' }
  if (target === undefined) return undefined
  return { target: new URL(pathname, target).href, link: '' }
}
