/**
 * The version of the rules that make rows of events. Raise it when the same logs give other rows than before:
 * rules-version.test.ts fails where that was forgotten. A server then starts `landpass follow --rebuild`, which makes the world
 * again from the stored logs. Say here what changed, one line per version.
 */
export const RULES_VERSION = 1
