/** watch-imports: which places decide what code the modules of a user run, so that no command changes them. */
import { registerHooks } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** How Node may complete a name that `require` is given. */
const ENDINGS = ['', '.js', '.json', '.node']

/** Does `work`, and reports the absolute places of all that it imports. What is imported after it is not known. */
export async function watchImports<T>(
  work: () => Promise<T>,
): Promise<{ readonly done: T; readonly places: string[] }> {
  const places = new Set<string>()
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const result = next(specifier, context)
      if (result.url.startsWith('file:'))
        for (const place of placesOf(specifier, fileURLToPath(result.url), context.parentURL)) places.add(place)
      return result
    },
  })
  try {
    return { done: await work(), places: [...places] }
  } finally {
    hooks.deregister()
  }
}

/** The file with its directory, and whatever would be found in its stead if it were there. */
function placesOf(specifier: string, file: string, parentUrl: string | undefined): string[] {
  const found = [file, dirname(file)]
  if (parentUrl?.startsWith('file:') !== true || specifier.startsWith('file:')) return found
  const from = dirname(fileURLToPath(parentUrl))
  if (/^\.{0,2}\//.test(specifier) || /^\.{1,2}$/.test(specifier))
    return [...found, ...ENDINGS.map((ending) => resolve(from, specifier) + ending)]
  const above = directoriesFrom(from)
  // Source: Node, "Subpath imports": the nearest package.json says what `#name` is.
  if (specifier.startsWith('#')) return [...found, ...above.map((directory) => join(directory, 'package.json'))]
  const [scope = '', name = ''] = specifier.split('/')
  const wanted = scope.startsWith('@') ? join(scope, name) : scope
  return [...found, ...above.map((directory) => join(directory, 'node_modules', wanted))]
}

function directoriesFrom(directory: string): string[] {
  const above = dirname(directory)
  return [directory, ...(above === directory ? [] : directoriesFrom(above))]
}
