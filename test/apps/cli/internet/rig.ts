/** A place with settings and a skill in the lab of internet.sh, and what its servers noted. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { readEnvironment } from '../../../../src/config/index.ts'
import { openLocal } from '../../../../src/local/index.ts'
import { Place, type Ran, type StartOptions } from '../nexus.ts'
import { type Fixture, skillText } from './fixtures.ts'

export const LAB = process.env['NEXUS_LAB'] ?? ''

export class LabPlace extends Place {
  override options(more: StartOptions = {}): ReturnType<Place['options']> {
    return super.options({ ...more, env: { SSL_CERT_FILE: join(LAB, 'cert.pem'), ...more.env } })
  }
  settings(text: string): void {
    mkdirSync(this.home, { recursive: true })
    writeFileSync(join(this.home, 'nexus.yaml'), text)
  }
}

export const requests = (): string => {
  try {
    return readFileSync(join(LAB, 'requests'), 'utf8')
  } catch {
    return ''
  }
}

export function place(t: TestContext, fixture?: Fixture, frontmatter = ''): LabPlace {
  const made = new LabPlace(t)
  rmSync(join(made.workspace, 'nexus.yaml'), { force: true })
  if (fixture) {
    const root = join(made.workspace, 'skills', fixture.name)
    for (const [path, text] of Object.entries({ ...fixture.files, 'SKILL.md': skillText(fixture) })) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      const body = path === 'SKILL.md' && frontmatter !== '' ? text.replace('\n---\n', `\n${frontmatter}\n---\n`) : text
      writeFileSync(join(root, path), body)
    }
  }
  return made
}

export const run = (at: LabPlace, name: string, command: string, ...more: string[]): Promise<Ran> =>
  at.run(['skills', 'run', name, '--trust', ...more, '--', command])

/** A runtime of this process over a place, with a trusted workspace. */
export async function openAt(t: TestContext, { root, home, workspace }: LabPlace): ReturnType<typeof openLocal> {
  const variables = {
    PATH: process.env['PATH'],
    HOME: root,
    NEXUS_HOME: home,
    SSL_CERT_FILE: join(LAB, 'cert.pem'),
  }
  const environment = readEnvironment(variables)
  const local = await openLocal({ cwd: workspace, environment, record: 'memory', trusted: true })
  t.after(() => local.close())
  return local
}

/** The line that a finding says to write into nexus.yaml. */
export const lineIn = (text: string): string | undefined =>
  /write in nexus\.yaml: (skills: .*\} \} \})/i.exec(text)?.[1]

export function has(needs: string | undefined): boolean {
  if (needs === undefined) return true
  const [program = '', module] = needs.split(' ')
  if (program === 'go') return spawnSync('/usr/bin/go', ['version'], { stdio: 'ignore' }).status === 0
  const args = module === undefined ? ['--version'] : ['-c', `import ${module}`]
  return spawnSync(join('/usr/bin', program), args, { stdio: 'ignore' }).status === 0
}
