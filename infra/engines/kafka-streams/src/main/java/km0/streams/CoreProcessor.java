package km0.streams;

import java.time.Duration;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;

/**
 * One task hosts one object of the bundle. Its state is stored every few seconds, with the offset it stands for, in a logged store; results
 * go out as their record is applied. Kafka Streams may commit at any offset after that, so whoever takes the task over restores the state and
 * reads the stretch from there to the committed offset once more, without results: the log itself is the journal, and no record costs a put.
 */
abstract class CoreProcessor implements Processor<byte[], byte[], byte[], Result> {
  static final String STORE_SUFFIX = "-state";

  protected final Settings settings;
  protected final LogReader reader;
  private final String storeName;
  private final String topic;
  protected ProcessorContext<byte[], Result> context;
  protected Core core;
  protected int partition;
  private StoredState stored;
  /** Offset after the newest applied record, -1 before the first. */
  protected long next = -1;
  private long storedNext = -1;
  private boolean ready;
  private boolean muted;
  private long markedAtMs;

  CoreProcessor(Settings settings, LogReader reader, String storeName, String topic) {
    this.settings = settings;
    this.reader = reader;
    this.storeName = storeName;
    this.topic = topic;
  }

  abstract Core create(Core.Emit emit);

  abstract void apply(long offset, long timestampMs, Headers headers, byte[] value);

  /** Applies a record whose results are in the log already; {@link #muted} holds back what it emits. */
  abstract void reapply(long offset, long timestampMs, Headers headers, byte[] value);

  /** Every 200 ms and before the state is stored. */
  void tick(long nowMs) {}

  @Override
  public void init(ProcessorContext<byte[], Result> context) {
    this.context = context;
    partition = context.taskId().partition();
    stored = new StoredState(context.getStateStore(storeName));
    core = create(this::emit);
    StoredState.At state = stored.get();
    if (state == null) state = seed();
    if (state != null) {
      core.call("restore", state.text(), state.nextOffset());
      next = storedNext = state.nextOffset();
    }
    context.schedule(Duration.ofMillis(200), PunctuationType.WALL_CLOCK_TIME, this::punctuate);
    context.schedule(settings.snapshotEvery(), PunctuationType.WALL_CLOCK_TIME, now -> store());
  }

  /** The state that a task without one begins with; null for an empty one. */
  StoredState.At seed() {
    return null;
  }

  @Override
  public void process(Record<byte[], byte[]> record) {
    long offset = context.recordMetadata().map(RecordMetadata::offset).orElseThrow();
    if (!ready) catchUp(offset);
    // A seed may be ahead of where the group begins: what is before it is in the state already.
    if (offset < next) return;
    apply(offset, record.timestamp(), record.headers(), record.value());
    next = offset + 1;
  }

  /** Applies once more what is before {@code offset}, where the group goes on. */
  private void catchUp(long offset) {
    muted = true;
    reader.read(topic, partition, next, offset, record -> {
      reapply(record.offset(), record.timestamp(), record.headers(), record.value());
      next = record.offset() + 1;
    });
    muted = false;
    ready = true;
  }

  private void punctuate(long nowMs) {
    // What waited when the last owner ended is told although no record comes.
    if (!ready) catchUp(reader.committed(topic, partition));
    tick(nowMs);
    if (nowMs - markedAtMs < 1_000) return;
    markedAtMs = nowMs;
    Metrics.watermark(topic, partition, core.number("watermarkMs"));
  }

  private void store() {
    if (!ready || next == storedNext) return;
    tick(context.currentSystemTimeMs());
    stored.put(next, core.text("snapshot"));
    storedNext = next;
  }

  private void emit(String to, int toPartition, String key, String value, long timestampMs, String headers) {
    if (!muted) context.forward(RecordText.resultOf(to, toPartition, key, value, timestampMs, headers));
  }

  @Override
  public void close() {
    if (core != null) core.close();
  }
}
