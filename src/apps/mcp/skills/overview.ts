/** `nexus://skills`: every skill of the agent and what keeps it back, for clients and people who wonder why one is missing. */
import type { McpServer } from '@modelcontextprotocol/server'
import { shownText } from '../../../skills/catalog/index.ts'
import { type JsonObject, type Skill, SKILL_FILE, toSafeJson, toSafeLine } from '../../../kernel/index.ts'
import type { Opened } from '../calls.ts'
import { frontmatterOf, problemsOf } from './served.ts'
import { offered } from './skill-source.ts'

const URI = 'nexus://skills'

export function registerOverview(mcp: McpServer, opened: () => Promise<Opened>): void {
  const about = {
    title: 'Skills and their state',
    description: 'Ready and held skills, with reasons',
    mimeType: 'application/json',
  }
  mcp.registerResource('nexus-skills', URI, about, async (uri, { mcpReq }) => {
    const text = toSafeJson(await overview(await opened(), mcpReq.signal), 2)
    return { contents: [{ uri: uri.href, mimeType: about.mimeType, text }] }
  })
}

async function overview(ready: Opened, signal: AbortSignal): Promise<JsonObject> {
  const { agent, local } = ready
  const catalog = agent.catalog()
  const of = (skill: Skill): JsonObject => ({
    name: toSafeLine(skill.name),
    address: toSafeLine(catalog.addressOf(skill)),
    description: shownText(skill.description),
    trusted: skill.origin.trusted,
  })
  const skills: JsonObject[] = []
  for (const { skill, root } of offered(ready)) {
    const served: JsonObject = await frontmatterOf(skill, signal).then(
      () => ({ uri: `${root}/${SKILL_FILE}` }),
      (error: unknown) => ({ notServed: problemsOf(error).map(toSafeLine) }),
    )
    skills.push({ ...of(skill), ...served })
  }
  return {
    agent: agent.id,
    workspace: {
      directory: toSafeLine(local.workspace.directory),
      trusted: local.workspace.trusted && !local.waitsForTrust,
    },
    skills,
    held: catalog.held.map(({ skill, reasons }) => ({
      ...of(skill),
      reasons: reasons.map(({ code, text, fix }) => ({ code, text: toSafeLine(text), fix: toSafeLine(fix) })),
    })),
    shadowed: catalog.shadowed.map(({ skill, by }) => ({ ...of(skill), by: toSafeLine(catalog.addressOf(by)) })),
    invalid: catalog.invalid.map(({ name, file, diagnostics: [first] }) => ({
      name: toSafeLine(name),
      file: toSafeLine(file),
      ...(first && { message: toSafeLine(first.message), fix: toSafeLine(first.fix ?? '') }),
    })),
  }
}
