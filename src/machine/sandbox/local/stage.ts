/** stage: copies node, the runner and the seccomp helper once per version to where any uid can read them and none but us can write. */
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { createSha256, errorCode, makeDirectory, randomHex } from '../../../kernel/index.ts'
import { ownDirectory } from './state.ts'
import { sandboxError, UNAVAILABLE } from '../messages.ts'

const LIBRARY = '@anthropic-ai/sandbox-runtime'
const HELPER = 'apply-seccomp'

/** A staged version. */
export interface Stage {
  readonly directory: string
  readonly node: string
  /** Goes on the PATH of commands. */
  readonly bin: string
  /** Script of the runner. */
  readonly runner: string
  /** Sets the filter of system calls and becomes the command. */
  readonly helper: string
}

/** Returns the stage of this version and makes it when it is not there: built beside, then renamed, so it is whole or absent. */
export function ensureStage(stages: string): Stage {
  const source = locate()
  const directory = join(stages, source.key)
  if (!existsSync(directory)) {
    const part = join(stages, `.part-${randomHex(8)}`)
    try {
      build(part, source)
      renameSync(part, directory)
    } catch (error) {
      rmSync(part, { recursive: true, force: true })
      // Another process that staged the same version at the same time was faster.
      if (!existsSync(directory))
        throw sandboxError(UNAVAILABLE.stage({ path: stages, why: errorCode(error) ?? String(error) }), error)
    }
  }
  ownDirectory(directory, 0o755)
  const bin = join(directory, 'bin')
  return {
    directory,
    bin,
    node: join(bin, 'node'),
    runner: join(directory, 'sandbox', 'runner', 'main.js'),
    helper: join(directory, HELPER),
  }
}

/** Files of the runner, below `src`; it imports nothing else of ours. The stage has the same folders. */
const FOLDERS = ['sandbox/runner', 'files'] as const

interface Source {
  readonly key: string
  readonly library: string
  /** Holds the folders. */
  readonly rooms: string
}

function locate(): Source {
  // Run from source, the files are .ts; built, they are .js.
  const main = import.meta.filename.endsWith('.ts') ? 'main.ts' : 'main.js'
  const above = dirname(import.meta.dirname)
  // In the bundle of the command this file is in dist/cli.
  const room = [above, join(above, 'machine/sandbox')].find((each) => existsSync(join(each, 'runner', main)))
  if (room === undefined) throw sandboxError(UNAVAILABLE.runnerMissing({ path: join(above, 'runner', main) }))
  const manifest = libraryManifest()
  const hash = createSha256().update(`js ${process.version} ${process.arch} ${statSync(process.execPath).size}\n`)
  hash.update(readFileSync(manifest))
  const rooms = dirname(room)
  for (const file of runnerFiles(rooms)) hash.update(`${file}\n`).update(readFileSync(join(rooms, file)))
  return { key: hash.digest('hex').slice(0, 24), library: dirname(manifest), rooms }
}

function libraryManifest(): string {
  try {
    return createRequire(import.meta.filename).resolve(`${LIBRARY}/package.json`)
  } catch (cause) {
    throw sandboxError(UNAVAILABLE.library({ name: LIBRARY }), cause)
  }
}

/** `sandbox/runner/main.ts` and so on. */
function runnerFiles(rooms: string): string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(rooms, folder))
      .filter((name) => /\.(?:ts|js)$/.test(name) && !name.endsWith('.d.ts'))
      .sort()
      .map((name) => join(folder, name)),
  )
}

function build(part: string, source: Source): void {
  const helper = join(source.library, 'vendor', 'seccomp', process.arch, HELPER)
  if (!existsSync(helper)) {
    throw sandboxError(UNAVAILABLE.processor({ name: LIBRARY, processor: process.arch }))
  }
  for (const directory of ['bin', ...FOLDERS]) makeDirectory(join(part, directory), { mkdirSync, statSync })
  stageNode(join(part, 'bin', 'node'))
  for (const file of runnerFiles(source.rooms)) stageModule(join(source.rooms, file), join(part, file))
  writeFileSync(join(part, 'package.json'), '{"type":"module"}\n')
  copyFileSync(helper, join(part, HELPER))
  setModes(part)
}

/** Types go here: node would strip them at each start of a runner, which takes four times as long as the rest of the start. */
function stageModule(from: string, to: string): void {
  if (!from.endsWith('.ts')) return copyFileSync(from, to)
  const code = stripTypeScriptTypes(readFileSync(from, 'utf8'))
  writeFileSync(to.replace(/ts$/, 'js'), code.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"))
}

/** A second name for node's file is instant; it is a copy when the file is not ours alone, or lies on another file system. */
function stageNode(target: string): void {
  const found = statSync(process.execPath)
  const isSafe = found.uid === process.getuid?.() && (found.mode & 0o022) === 0 && (found.mode & 0o005) === 0o005
  try {
    if (isSafe) return linkSync(process.execPath, target)
  } catch (error) {
    if (!['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP'].includes(errorCode(error) ?? '')) throw error
  }
  copyFileSync(process.execPath, target, constants.COPYFILE_FICLONE)
}

/** The umask and the modes of a private checkout must not decide who can read the stage. */
function setModes(directory: string): void {
  chmodSync(directory, 0o755)
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) setModes(path)
    else chmodSync(path, (statSync(path).mode & 0o100) === 0 ? 0o644 : 0o755)
  }
}
