const addresses = (): RegExp =>
  /\b(?:https?|wss?|ssh|git|ftp):\/\/(?:[^\s/@"'`<>]{1,100}@)?(\[[0-9a-f:.]{2,45}\]|[\p{L}\p{N}][\p{L}\p{N}.-]{0,252})/giu

/** Names that reach nobody, which texts use as examples. Source: RFC 2606, RFC 6761. */
const EXAMPLES = /(?:^|\.)(?:example(?:\.(?:com|net|org))?|invalid|test|localhost)$/

/** The hosts of addresses that a text names, in lower-case ASCII, sorted. Names that reach nobody, such as example.com, are none. */
export function hostsIn(text: string): readonly string[] {
  const hosts = new Set<string>()
  for (const [, host = ''] of text.matchAll(addresses())) {
    const name = URL.parse(`https://${host.replace(/[.-]+$/, '')}`)?.hostname
    if (name !== undefined && /[.:]/.test(name) && !EXAMPLES.test(name)) hosts.add(name)
  }
  return [...hosts].sort()
}
