// Modules that most commands never need: the bundle loads them at the first use of one of their exports, not at start.
// Sources keep importing them as usual.
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build } from 'esbuild'
import { ROOT } from './setup/process.mjs'

/** Packages that become a file of their own beside the bundle, and the file of theirs that bundles best. */
const PACKAGES = { json5: 'json5/dist/index.mjs', yaml: 'yaml/browser/index.js' }
/** Parts of Node that take milliseconds to load. */
const BUILTINS = ['node:child_process', 'node:crypto', 'node:fs/promises', 'node:os', 'node:readline/promises']

/** For esbuild. `format` is that of the output; `later` are files of src/ that lie in later.cjs instead. */
export function lazyModules(format, later = []) {
  return {
    name: 'lazy-modules',
    setup(esbuild) {
      esbuild.onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir }) => {
        const file = join(resolveDir, path)
        return later.includes(relative(ROOT, file)) ? { path: file, namespace: 'later', sideEffects: false } : undefined
      })
      esbuild.onLoad({ filter: /.*/, namespace: 'later' }, ({ path }) => ({ contents: laterStandIn(path) }))
      esbuild.onResolve({ filter: /^[^.]/ }, ({ path }) =>
        lazyModules.isLazy(path) ? { path, namespace: 'lazy', sideEffects: false } : undefined,
      )
      esbuild.onResolve({ filter: /^\.\/(?:vendor\/|later\.cjs$)/ }, ({ path, namespace }) =>
        namespace === 'file' ? undefined : { path, external: true },
      )
      esbuild.onLoad({ filter: /.*/, namespace: 'lazy' }, ({ path }) => ({ contents: standIn(path, format) }))
    },
  }
}

lazyModules.isLazy = (path) => BUILTINS.includes(path) || Object.hasOwn(PACKAGES, path)

/** Makes vendor/<package>.cjs. */
lazyModules.bundlePackages = (directory) =>
  Promise.all(
    Object.entries(PACKAGES).map(([name, file]) =>
      build({
        absWorkingDir: ROOT,
        entryPoints: [join('node_modules', file)],
        outfile: join(directory, `vendor/${name}.cjs`),
        bundle: true,
        format: 'cjs',
        platform: 'node',
        target: 'node24',
        minify: true,
        metafile: true,
        logLevel: 'warning',
      }),
    ),
  )

/** Functions of a file that call those in later.cjs. */
function laterStandIn(path) {
  const names = [...readFileSync(path, 'utf8').matchAll(/^export (?:async )?function (\w+)/gm)].map(([, name]) => name)
  return names
    .map((name) => `export function ${name}(...args) { return require('./later.cjs').${name}(...args) }`)
    .join('\n')
}

/** A module whose exports are proxies: calls, `new`, `instanceof` and properties reach the real thing. */
function standIn(path, format) {
  const isBuiltin = path.startsWith('node:')
  const names = Object.keys(createRequire(join(ROOT, 'package.json'))(path)).filter((name) =>
    /^[A-Za-z_$][\w$]*$/.test(name),
  )
  const own = names
    .filter((name) => name !== 'default')
    .map((name) => `export const ${name} = /* @__PURE__ */ lazy('${name}')`)
  return `${isBuiltin || format === 'cjs' ? '' : `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`}
const load = () => ${isBuiltin ? `process.getBuiltinModule('${path}')` : `require('./vendor/${path}.cjs')`}
const lazy = (name) => {
  let real
  const it = () => (real ??= load()[name])
  return new Proxy(function () {}, {
    apply: (_, self, args) => Reflect.apply(it(), self, args),
    construct: (_, args) => Reflect.construct(it(), args),
    get: (_, key) => it()[key],
  })
}
${own.join('\n')}
${isBuiltin ? '' : `export default /* @__PURE__ */ lazy('default')`}
`
}
