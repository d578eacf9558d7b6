/** Bundles every program (quick, each time) and builds the panel's pages when something of theirs changed. */
export function buildPrograms(root: string): Promise<void>
