/** Of the rules that make rows of events. It rises when the same logs give other rows than before. */
export const RULES_VERSION = 1
