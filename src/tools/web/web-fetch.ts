import {
  type CallLimits,
  type Failed,
  newId,
  type Outcome,
  type Services,
  succeeded,
  type Tool,
  toSafeLine,
  toSafeText,
} from '../../kernel/index.ts'
import type { NetResponse } from '../../machine/net/index.ts'
import { headOf, type OutcomeLimits, toTruncation } from '../bound.ts'
import { defineTool } from '../define.ts'
import { failedBy } from '../messages.ts'
import { WEB } from '../services.ts'
import { WEB_TEXTS } from './messages.ts'
import type { Page } from './page.ts'

/**
 * `web_fetch{url*, offset?}`: a page of the public web as text. Requests go through `net`, so private addresses, redirects to them and
 * long answers end there. Ours; see decisions, "names the documents use".
 */
export function createWebFetchTool(services: Services): Tool {
  return defineTool({
    name: 'web_fetch',
    description:
      'Read a page of the public web, as text. HTML becomes Markdown with its links. Sends a GET request without cookies or credentials. Images and other binary files cannot be read.',
    parameters: {
      type: 'object',
      properties: {
        url: { type: 'string', description: 'Whole address, such as https://example.com/page' },
        offset: { type: 'integer', minimum: 0, default: 0, description: 'First character to read, for a long page' },
      },
      required: ['url'],
    },
    options: { capabilities: ['network'] },
    execute: async (args, { signal, limits }) => {
      const denied = networkDenied('web_fetch', limits)
      if (denied) return denied
      const { net = {} } = services.require(WEB)
      // Loaded when used: they load the network parts of Node.
      const { createNet } = await import('../../machine/net/index.ts')
      const { readPage } = await import('./page.ts')
      const client = createNet({ ...net, limits: { ...LIMITS, ...net.limits } })
      const response = await client.request({
        url: String(args.url),
        headers: { accept: ACCEPTED },
        domains: limits?.networkDomains,
        signal,
      })
      const url = shownUrl(response.url)
      const problem = statusProblem(response, url)
      if (problem) return problem
      const page = await readPage(response, signal)
      if (page.type === 'binary') return failedBy('BINARY_FILE', WEB_TEXTS.binary(url, page.contentType))
      return toOutcome(page, { url, status: response.status, offset: Number(args.offset ?? 0) })
    },
  })
}

/** A page that takes longer is of no use; the tool's own limit is 30 s. */
const LIMITS = { totalMs: 25_000, maxBytes: 5 * 1024 * 1024 }
const ACCEPTED = 'text/html, application/xhtml+xml, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5'
/** Room for the lines around the text within the limits of an outcome. */
const SHOWN: OutcomeLimits = { maxLines: 1900, maxBytes: 48_000 }

/** The refusal where policy or permissions take the network away; a web tool is nothing without it. */
export function networkDenied(tool: string, limits: CallLimits | undefined): Failed | undefined {
  const { networkDomains, deniedCapabilities = [] } = limits ?? {}
  const isDenied = networkDomains?.length === 0 || deniedCapabilities.includes('network')
  return isDenied ? failedBy('PERMISSION_DENIED', WEB_TEXTS.noNetwork(tool)) : undefined
}

/** A word that no page can know beforehand. */
export function newMark(): string {
  return newId().slice(-16)
}

/** Without query and fragment: they may contain secrets, and a redirect can add some. */
function shownUrl(text: string): string {
  const { origin, pathname } = new URL(text)
  return origin + pathname
}

function statusProblem({ status, close }: NetResponse, url: string): Failed | undefined {
  if (status >= 200 && status < 300) return undefined
  close()
  if (status === 404 || status === 410) return failedBy('NOT_FOUND', WEB_TEXTS.notFound(url, status))
  if (status === 401 || status === 403) return failedBy('PERMISSION_DENIED', WEB_TEXTS.login(url, status))
  return failedBy('EXECUTION_ERROR', WEB_TEXTS.badStatus(url, status), { data: { url, status } })
}

interface About {
  readonly url: string
  readonly status: number
  readonly offset: number
}

/** The text is put between two lines that its author cannot know. Source: security, group U. */
function toOutcome(page: Page, { url, status, offset }: About): Outcome {
  const whole = toSafeText(page.text).trim()
  if (offset > 0 && offset >= whole.length) return failedBy('INVALID_PARAM', WEB_TEXTS.noOffset(whole.length))
  const head = headOf(whole.slice(offset).toWellFormed(), SHOWN)
  const { contentType, bytes } = page
  const data = { url, status, content_type: contentType, content: head.text }
  const framed = WEB_TEXTS.framed(head.text, { what: `The page ${url} (${toSafeLine(contentType)})`, mark: newMark() })
  if (!head.isCut && !page.isCut) return succeeded(framed, data, { stats: { bytes } })
  const next = offset + head.text.length
  const text = head.isCut ? WEB_TEXTS.readOn(framed, { offset, next, length: whole.length }) : WEB_TEXTS.cut(framed)
  const truncation = toTruncation(head, SHOWN)
  return { type: 'partial', text, data: { ...data, truncated: true, truncation }, stats: { bytes } }
}
