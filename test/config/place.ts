import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { loadConfig, type LoadConfigOptions, type LoadedConfig, readEnvironment } from '../../src/config/index.ts'

/** A home and a workspace in a fresh directory, removed at the end of the test. */
export interface Place extends AsyncDisposable {
  readonly root: string
  readonly home: string
  readonly nexusHome: string
  readonly workspace: string
  /** Writes a file below the root, with its directories. */
  write(path: string, text: string | Uint8Array): Promise<string>
  load(options?: Partial<LoadConfigOptions> & { variables?: Record<string, string> }): Promise<LoadedConfig>
}

/** Makes the place; `user` and `local` are the texts of the two nexus.yaml files. */
export async function makePlace(files: { user?: string; local?: string } = {}): Promise<Place> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'nexus-config-')))
  const home = join(root, 'home')
  const workspace = join(root, 'workspace')
  const nexusHome = join(home, '.nexus')
  for (const directory of [nexusHome, workspace]) await mkdir(directory, { recursive: true })
  const place: Place = {
    root,
    home,
    nexusHome,
    workspace,
    async write(path, text) {
      const file = join(root, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
      return file
    },
    load: ({ variables = {}, ...options } = {}) =>
      loadConfig({ cwd: workspace, environment: readEnvironment({ HOME: home, ...variables }), ...options }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  }
  if (files.user !== undefined) await place.write('home/.nexus/nexus.yaml', files.user)
  if (files.local !== undefined) await place.write('workspace/nexus.yaml', files.local)
  return place
}

/** Diagnostics as lines that are easy to compare: `3:5 code`. */
export function findings(loaded: LoadedConfig): string[] {
  return loaded.diagnostics.map(({ code, line, column }) => (line === undefined ? code : `${line}:${column} ${code}`))
}
