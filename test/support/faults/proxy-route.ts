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

/** The route in a request's path; undefined without one. */
export function routeOf(path: string): ProxyRoute | undefined {
  const { searchParams } = new URL(path, 'ws://proxy')
  const target = searchParams.get('to')
  return target === null ? undefined : { target, link: searchParams.get('link') ?? '' }
}
