/** A home with installations, as their installers leave them. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { Programs, type ProgramSearch } from '../../../src/machine/programs/index.ts'

export const SYSTEM = ['/usr', '/etc', '/lib', '/lib64', '/bin', '/sbin']

export interface Home {
  readonly path: string
  /** An executable file; says its name. */
  program(path: string, text?: string): string
  file(path: string, text: string): string
  link(path: string, target: string): string
  search(more?: Partial<ProgramSearch> & { readonly variables?: Readonly<Record<string, string>> }): Programs
}

export function makeHome(context: TestContext): Home {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-home-')))
  chmodSync(path, 0o755)
  context.after(() => rmSync(path, { recursive: true, force: true }))
  const at = (name: string): string => {
    const whole = join(path, name)
    mkdirSync(dirname(whole), { recursive: true })
    return whole
  }
  const file = (name: string, text: string): string => {
    writeFileSync(at(name), text)
    return join(path, name)
  }
  return {
    path,
    file,
    program: (name, text = `#!/bin/sh\necho ${name}\n`) => {
      chmodSync(file(name, text), 0o755)
      return join(path, name)
    },
    link: (name, target) => {
      symlinkSync(target, at(name))
      return join(path, name)
    },
    search: ({ variables = {}, ...more } = {}) =>
      new Programs({
        home: path,
        path: [join(path, '.local/bin'), '/usr/bin', '/bin'],
        variable: (name) => variables[name],
        system: SYSTEM,
        given: ['node'],
        ...more,
      }),
  }
}
