package km0.streams;

import org.apache.kafka.common.header.Headers;

/** Windows, newest stock and episodes of one partition of the shuffle's topic. */
final class WindowsProcessor extends CoreProcessor {
  static final String STORE = "windows" + STORE_SUFFIX;

  private static final long MARK_EVERY_MS = 1_000;

  private long markedAtMs;

  WindowsProcessor(Settings settings, LogReader reader) {
    super(settings, reader, STORE, settings.shuffleTopic());
  }

  @Override
  Core create(Core.Emit emit) {
    return new Core(settings.bundle(), emit, "createStockWindows", partition, settings.epoch(), settings.stockJson());
  }

  @Override
  void apply(long offset, long timestampMs, Headers headers, byte[] value) {
    core.record("onRecord", offset, RecordText.headersOf(headers), value);
  }

  @Override
  void tick(long nowMs) {
    if (nowMs - markedAtMs < MARK_EVERY_MS) return;
    markedAtMs = nowMs;
    core.call("mark", nowMs);
  }

  @Override
  void reapply(long offset, long timestampMs, Headers headers, byte[] value) {
    apply(offset, timestampMs, headers, value);
  }
}
