/** Defaults that only the configuration knows; the others are `DEFAULTS` of the kernel. */
export const CONFIG_DEFAULTS = {
  agentId: 'main',
  surface: ['load_skill', 'read_skill_file'],
  refreshOnCall: true,
} as const
