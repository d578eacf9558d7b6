/** Whose state a snapshot is. */
export interface SnapshotIdentity {
  readonly pipeline: string
  readonly version: number
  readonly settings: Readonly<Record<string, unknown>>
}

/** What a snapshot says of itself; `state` is by operator. */
export interface SnapshotEnvelope extends SnapshotIdentity {
  readonly state: unknown
}

/** Snapshot text; members in the order given, so equal states give equal text. */
export function encodeSnapshot(envelope: SnapshotEnvelope): string {
  const { pipeline, version, settings, state } = envelope
  return JSON.stringify({ pipeline, version, settings, state })
}

/**
 * State of a snapshot that was taken by the same pipeline, version and settings as `expected`. Throws an Error that says what differs,
 * and what to do, when it was not.
 */
export function decodeSnapshot(text: string, expected: SnapshotIdentity): unknown {
  const found = readEnvelope(text)
  requireIdentity(found, expected)
  return found.state
}

/** The snapshot, or the first line of one that is made of lines. Throws when the text is none. */
export function readEnvelope(text: string): SnapshotEnvelope {
  let found: SnapshotEnvelope
  try {
    found = JSON.parse(text) as SnapshotEnvelope
  } catch (cause) {
    throw new Error('the snapshot is not JSON: it is damaged; take an older one or replay the log from its start', { cause })
  }
  if (typeof found !== 'object' || found === null || typeof found.settings !== 'object' || found.settings === null) {
    throw new Error('this is not a snapshot of a pipeline')
  }
  return found
}

/** Throws an Error that says what differs, and what to do, when `found` is not of `expected`. */
export function requireIdentity(found: SnapshotIdentity, expected: SnapshotIdentity): void {
  if (found.pipeline !== expected.pipeline) {
    throw new Error(`the snapshot is of the pipeline '${found.pipeline}', not of '${expected.pipeline}'`)
  }
  if (found.version !== expected.version) {
    throw new Error(
      `the snapshot has version ${found.version} of '${expected.pipeline}', this program reads ${expected.version}: replay the log from its start`,
    )
  }
  const differing = differences(found.settings, expected.settings)
  if (differing.length > 0) {
    throw new Error(
      `the snapshot belongs to other settings (${differing.join(', ')}): go back to those, or replay the log from its start with the new ones`,
    )
  }
}

/** The lines of a text one after the other, without making all of them at once. */
export function* linesOf(text: string): Generator<string> {
  for (let start = 0; start <= text.length; ) {
    const end = text.indexOf('\n', start)
    yield end < 0 ? text.slice(start) : text.slice(start, end)
    if (end < 0) return
    start = end + 1
  }
}

function differences(found: Readonly<Record<string, unknown>>, expected: Readonly<Record<string, unknown>>): string[] {
  const names = [...new Set([...Object.keys(found), ...Object.keys(expected)])]
  return names
    .filter((name) => JSON.stringify(found[name]) !== JSON.stringify(expected[name]))
    .map((name) => `${name}: ${JSON.stringify(found[name])} there, ${JSON.stringify(expected[name])} here`)
}
