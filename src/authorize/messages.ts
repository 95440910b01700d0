/** The words of every decision and of every finding about a policy. Names from outside are already safe to print. */
export const MESSAGES = {
  // Source of the first words of the next three: contracts §2.2. Models read them.
  noPolicy: () => 'no policy configured',
  notAllowed: (tool: string, profile: string) =>
    `no matching allow rule: profile ${profile} does not include '${tool}'. Add it under allow: in the agent's tools.`,
  denied: (tool: string, line: string) => `'${tool}' is denied by rule: ${line}`,
  untrusted: (skill: string) =>
    `the skill '${skill}' comes from a workspace that is not trusted. The user can trust it with: nexus trust`,
  disabled: (tool: string, preset: string) =>
    `'${tool}' is disabled by the permissions of this agent (preset ${preset}). The user can enable it under permissions.enableTools of the agent.`,
  noNetwork: (tool: string, preset: string) =>
    `'${tool}' needs the network, and the permissions of this agent (preset ${preset}) have none. The user can allow it with network: true in a preset of their own (permissions.presets).`,
  networkDenied: (tool: string) =>
    `'${tool}' needs the network, and the tools of this agent deny it (such as deny: [sandbox.network]). Only the user can allow it.`,
  noPaths: (tool: string, preset: string) =>
    `'${tool}' has no directory to work in: the permissions of this agent (preset ${preset}) allow no path. The user can allow one with allowedPaths under permissions of the agent.`,
  unknownPreset: (agent: string, preset: string) =>
    `the preset '${preset}' of the agent '${agent}' does not exist, so the agent may call nothing.`,
  restricted: (tool: string, skill: string) =>
    `'${tool}' is not among the allowed-tools of the skill '${skill}', which restricts this turn to them.`,
  untrustedWorkspace: () =>
    'the workspace is not trusted, so no command runs and no file is changed. The user can trust it with: nexus trust (in a program: trusted: true)',
  /** `guess`: the nearest tool; `listed`: the first tools, when there is no guess. */
  unknownTool: (name: string, { guess, listed }: { readonly guess: string | undefined; readonly listed: string }) =>
    `Unknown tool: '${name}'.${guess === undefined ? listed && ` Tools: ${listed}.` : ` Did you mean '${guess}'?`}`,
  question: (tool: string, args: string) => `May '${tool}' run with ${args}?`,
}

/** Findings about the lines of a policy; the place is found by its keys. */
export const FINDINGS = {
  'policy-unknown-profile': (profile: string, profiles: readonly string[], guess: string | undefined) => ({
    message: `The profile '${profile}' does not exist, so minimal applies. Profiles: ${profiles.join(', ')}.`,
    fix: guess === undefined ? undefined : `Write: profile: ${guess}`,
  }),
  'policy-unknown-key': (key: string, keys: readonly string[], guess: string | undefined) => ({
    message: `A policy has no key '${key}', so minimal applies. Keys: ${keys.join(', ')}.`,
    fix: guess === undefined ? 'Remove it.' : `Did you mean '${guess}'?`,
  }),
  'policy-group-cycle': (names: readonly string[]) => ({
    message: `Groups contain each other: ${names.join(' > ')}.`,
    fix: `Remove '${names.at(-1) ?? ''}' from ${names.at(-2) ?? ''}.`,
  }),
  'policy-unknown-name': (
    entry: string,
    about: { readonly where: string; readonly capabilities: readonly string[]; readonly guess: string | undefined },
  ) => {
    const known = about.capabilities.length > 0 ? ` Capabilities: ${about.capabilities.join(', ')}.` : ''
    return {
      message: `${about.where}: '${entry}' names no tool, group or capability, so the line has no effect.${known}`,
      fix: about.guess === undefined ? undefined : `Did you mean '${about.guess}'?`,
    }
  },
  'policy-unreachable': (entry: string, { where, by }: { readonly where: string; readonly by: string }) => ({
    message: `${where}: '${entry}' never decides, because the line ${by} covers all of its tools.`,
    fix: `Remove '${entry}' from this list, or narrow the other line.`,
  }),
  'policy-capability': (entry: string, { where, isAsk }: { readonly where: string; readonly isAsk: boolean }) => ({
    message: `${where}: '${entry}' is a capability of a tool and can only be denied. ${isAsk ? 'Nexus denies it, because a person cannot be asked about a part of a call.' : 'The line has no effect.'}`,
    fix: `Move '${entry}' to deny:, or name the tool.`,
  }),
}
