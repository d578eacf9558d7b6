package km0.streams;

import org.apache.kafka.common.header.Headers;

/** The positions pipeline on one source partition. */
final class PositionsProcessor extends CoreProcessor {
  static final String TOPIC = "repartiment.posicions";
  static final String STORE = "positions" + STORE_SUFFIX;
  private static final int FLUSH_EVERY_RECORDS = 10_000;
  private static final long MARK_EVERY_MS = 1_000;

  private int sinceFlush;
  private long markedAtMs;

  PositionsProcessor(Settings settings, LogReader reader) {
    super(settings, reader, STORE, TOPIC);
  }

  @Override
  Core create(Core.Emit emit) {
    return new Core(settings.bundle(), emit, "createPositions", partition, settings.epoch(), settings.positionsJson(), settings.outageAfterMs());
  }

  @Override
  void apply(long offset, long timestampMs, Headers headers, byte[] value) {
    Metrics.count(core.record("onRecord", offset, timestampMs, value));
    if (++sinceFlush >= FLUSH_EVERY_RECORDS) flush();
  }

  @Override
  void reapply(long offset, long timestampMs, Headers headers, byte[] value) {
    core.record("reapply", offset, timestampMs, value);
  }

  private void flush() {
    sinceFlush = 0;
    core.call("flush");
  }

  @Override
  void tick(long nowMs) {
    flush();
    if (nowMs - markedAtMs < MARK_EVERY_MS) return;
    markedAtMs = nowMs;
    core.call("mark", nowMs);
  }
}
