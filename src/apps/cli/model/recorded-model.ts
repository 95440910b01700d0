import { isJsonObject, type JsonObject } from '../../../kernel/index.ts'
import { type ModelRequest, type ModelServer, type Reply, startModelServer } from '../../../testing/index.ts'

export const RECORDED_TASK = 'Summarise data/sales.csv by region and draw a chart of the revenue.'

/**
 * A recorded model behind our own OpenAI-compatible HTTP server. It plays back one conversation with the `csv-report` skill;
 * only what the tools really answered (the skill's directory, the totals) is filled in from the request.
 */
export function startRecordedModel(): Promise<ModelServer> {
  return startModelServer({ script: (request) => replyTo(request), models: ['recorded'] })
}

function replyTo(request: ModelRequest): Reply {
  const results = request.messages.filter((message) => message.role === 'tool').map((message) => message.text)
  const usage = { inputTokens: Math.ceil(JSON.stringify(request.body).length / 4), outputTokens: 40 }
  switch (results.length) {
    case 0:
      return {
        type: 'tool-calls',
        text: 'There is a skill for CSV reports. I load its instructions first.',
        calls: [{ name: 'load_skill', arguments: { skill_name: 'csv-report' } }],
        usage,
      }
    case 1:
      return {
        type: 'tool-calls',
        text: 'Before I run the script I check its options.',
        calls: [
          { name: 'read_skill_file', arguments: { skill_name: 'csv-report', file_path: 'references/options.md' } },
        ],
        usage,
      }
    case 2: {
      const script = /node "([^"]+\/scripts\/report\.mjs)"/.exec(results[0] ?? '')?.[1]
      if (script === undefined) return giveUp('the instructions did not say where the script is', usage)
      const command = `node "${script}" data/sales.csv --group region --value revenue --out report`
      return {
        type: 'tool-calls',
        text: 'The defaults fit. I run the script on the file.',
        calls: [{ name: 'run_command', arguments: { command } }],
        usage,
      }
    }
    default: {
      const report = lastReport(results.at(-1) ?? '')
      if (!report) return giveUp(`the script did not report a result: ${(results.at(-1) ?? '').slice(0, 300)}`, usage)
      return { type: 'text', text: finalText(report).match(/\S+\s*/g) ?? [], delayMs: 12, usage }
    }
  }
}

function giveUp(why: string, usage: { inputTokens: number; outputTokens: number }): Reply {
  return { type: 'text', text: `I could not finish: ${why}.`, usage }
}

/** The line of JSON that the script printed, anywhere in the tool's answer. */
function lastReport(text: string): JsonObject | undefined {
  const start = text.indexOf('{"rows"')
  const end = text.indexOf('}', text.indexOf('"uid"', start))
  if (start === -1 || end === -1) return undefined
  try {
    const value: unknown = JSON.parse(text.slice(start, end + 1).replaceAll('\\"', '"'))
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined // not the script's line; the caller says so
  }
}

function finalText(report: JsonObject): string {
  const top = isJsonObject(report['top']) ? report['top'] : {}
  const total = Number(report['total'])
  const share = total === 0 ? 0 : (Number(top['total']) / total) * 100
  return [
    `The file has ${String(report['rows'])} sales in ${String(report['groups'])} regions, ${total.toLocaleString('en-US')} in revenue. `,
    `${String(top['name'])} leads with ${Number(top['total']).toLocaleString('en-US')} (${share.toFixed(1)} %). `,
    `The table is in ${String(report['summary'])}, the chart in ${String(report['chart'])}.`,
  ].join('')
}
