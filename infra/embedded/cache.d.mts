export function jarFolder(root: string, environment?: NodeJS.ProcessEnv): string
