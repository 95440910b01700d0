import { NexusError, type Services } from '../kernel/index.ts'

/** An empty bag of shared parts for one agent. Registering a name again replaces the part. Source: seed 000, "ServiceContainer". */
export function createServices(): Services {
  const parts = new Map<string, unknown>()
  return {
    register: (name, service) => {
      parts.set(name, service)
    },
    get: <T>(name: string) => parts.get(name) as T | undefined,
    require: <T>(name: string) => {
      if (parts.has(name)) return parts.get(name) as T
      throw new NexusError('INVALID_ARGUMENT', `No service is registered as '${name}'.`, {
        fix: `Call services.register('${name}', …) first. Registered: ${[...parts.keys()].join(', ') || 'none'}.`,
      })
    },
    has: (name) => parts.has(name),
    names: () => [...parts.keys()],
    unregister: (name) => {
      const part = parts.get(name)
      parts.delete(name)
      return part
    },
    clear: () => parts.clear(),
  }
}
