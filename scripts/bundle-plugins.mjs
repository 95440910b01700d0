// How our sources are read when they are bundled: two changes to the text of a module, the meaning stays.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { ROOT } from './setup/process.mjs'

/**
 * For esbuild: reads the TypeScript files of src/. `format` is that of the output. What is imported dynamically and lies `inside` the bundle
 * anyway is imported at once.
 */
export function readSources(format, inside) {
  return {
    name: 'read-sources',
    setup(esbuild) {
      esbuild.onLoad({ filter: /\.ts$/ }, ({ path }) => ({
        loader: 'ts',
        contents: keepPlace(importAtOnce(passDoors(readFileSync(path, 'utf8'), path), path, inside), path, format),
      }))
    },
  }
}

/** A dynamic import inside of one file makes esbuild wrap every module that it reaches into a function. */
function importAtOnce(text, path, inside) {
  if (inside === undefined) return text
  const imports = []
  const rest = text.replaceAll(/\(await import\('(\.[^']+)'\)\)/g, (statement, target) => {
    const file = relative(join(ROOT, 'src'), join(dirname(path), target)).replaceAll('\\', '/')
    if (!inside.test(file)) return statement
    imports.push(`import * as nexusImport${imports.length} from '${target}';`)
    return `nexusImport${imports.length - 1}`
  })
  return imports.join('') + rest
}

/**
 * A module that asks where it is must get the same answer inside a bundle: the place that tsc gave it in dist/.
 * All files of the bundle lie in dist/cli, so that place is a fixed path away.
 */
function keepPlace(text, path, format) {
  if (!text.includes('import.meta.')) return text
  const place = relative(join(ROOT, 'src/cli'), path).replace(/\.ts$/, '.js').replaceAll('\\', '/')
  return format === 'cjs' ? placeInCommonJs(text, place) : placeInModule(text, place)
}

/** Without URLs: the first costs a tenth of a millisecond. */
function placeInCommonJs(text, place) {
  const filename = `require('node:path').resolve(__dirname, ${JSON.stringify(place)})`
  return text
    .replaceAll('import.meta.dirname', `require('node:path').resolve(__dirname, ${JSON.stringify(dirname(place))})`)
    .replaceAll('import.meta.filename', filename)
    .replaceAll('import.meta.url', `require('node:url').pathToFileURL(${filename}).href`)
}

function placeInModule(text, place) {
  const own = `const nexusModule = { url: new URL(${JSON.stringify(place)}, import.meta.url).href };`
  const rest = text
    .replaceAll('import.meta.dirname', 'nexusPath(new URL(".", nexusModule.url)).slice(0, -1)')
    .replaceAll('import.meta.filename', 'nexusPath(nexusModule.url)')
    .replaceAll('import.meta.url', 'nexusModule.url')
  return `import { fileURLToPath as nexusPath } from 'node:url';${own}${rest}`
}

const IMPORT_BY_DOOR = /^import \{([^}]*)\} from '(\.[^']*\/index\.ts)'$/gm

/**
 * esbuild counts everything behind a door as used by whoever imports one name from it, so a small command would load
 * whole rooms. Here each name is imported from the file that has it.
 */
function passDoors(text, path) {
  return text.replaceAll(IMPORT_BY_DOOR, (statement, list, door) => {
    const target = join(dirname(path), door)
    return names(list)
      .map(({ imported, local }) => importStatement({ ...findOrigin(target, imported), local }, path))
      .join(';')
      .concat(lineBreaks(statement))
  })
}

function importStatement({ file, name, local }, user) {
  const path = relative(dirname(user), file).replaceAll('\\', '/')
  return `import { ${name} as ${local} } from '${path.startsWith('.') ? path : `./${path}`}'`
}

/** Follows `export { a as b } from './file.ts'` through doors to the file where the name is declared. */
function findOrigin(file, name) {
  if (!existsSync(file)) throw new Error(`${file} does not exist`)
  for (const [, list, source] of readFileSync(file, 'utf8').matchAll(/^export \{([^}]*)\} from '(\.[^']+)'/gm)) {
    const match = names(list).find(({ local }) => local === name)
    if (match !== undefined) return findOrigin(join(dirname(file), source), match.imported)
  }
  return { file, name }
}

/** The values in `a, b as c, type D`; types leave no trace at run time. */
function names(list) {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '' && !item.startsWith('type '))
    .map((item) => {
      const [imported, local = imported] = item.split(' as ')
      return { imported, local }
    })
}

/** As many line breaks as the statement had, so that line numbers in messages stay right. */
function lineBreaks(statement) {
  return '\n'.repeat(statement.split('\n').length - 1)
}
