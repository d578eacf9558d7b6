package km0.streams;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
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

  /** A state of our own job, which {@code km0 savepoint states} writes: {@code FOLDER/PARTITION.state}, its first line the offset after it. */
  @Override
  StoredState.At seed() {
    if (settings.seedFolder() == null) return null;
    Path file = Path.of(settings.seedFolder(), partition + ".state");
    try {
      String text = Files.readString(file);
      if (text.isEmpty()) return null;
      int end = text.indexOf('\n');
      return new StoredState.At(Long.parseLong(text.substring(0, end)), text.substring(end + 1));
    } catch (IOException e) {
      // Whoever names a folder means all of it: from an empty state the results would differ.
      throw new UncheckedIOException(e);
    }
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
