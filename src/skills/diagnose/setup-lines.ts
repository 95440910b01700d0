/** setup-lines: the lines of nexus.yaml that install what a file of packages lists. */
import type { SetupFile } from './facts.ts'

/** The commands that install what such a file lists, into the directory of the result. */
const SETUPS: Readonly<Record<SetupFile, { readonly setup: string; readonly hosts: readonly string[] }>> = {
  'requirements.txt': {
    setup: 'python3 -m venv venv && venv/bin/pip install -r {baseDir}/requirements.txt',
    hosts: ['pypi.org', 'files.pythonhosted.org'],
  },
  'package.json': {
    setup: 'cp {baseDir}/package*.json . && npm install --omit=dev --no-audit --no-fund',
    hosts: ['registry.npmjs.org'],
  },
}

export function setupYaml(file: SetupFile, key: string): string {
  const { setup, hosts } = SETUPS[file]
  const name = /^[\w-]+$/.test(key) ? key : JSON.stringify(key)
  return `skills: { entries: { ${name}: { setup: '${setup}', network: [${hosts.join(', ')}] } } }`
}
