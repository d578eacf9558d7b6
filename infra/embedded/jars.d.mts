export function jarFolder(root: string): string
export function fetchJars(root: string): Promise<string>
