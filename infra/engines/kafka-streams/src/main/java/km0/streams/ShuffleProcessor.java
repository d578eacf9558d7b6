package km0.streams;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * The shuffle's work on one source partition of stock. It says things of its own accord, so its state is no function of the log alone: it is
 * some 300 characters, and is put with whatever is written.
 */
final class ShuffleProcessor implements Processor<byte[], byte[], byte[], Result> {
  static final String TOPIC = "comandes.esdeveniments";
  static final String STORE = "shuffle" + CoreProcessor.STORE_SUFFIX;
  private static final long TELL_EVERY_MS = 700;

  private final Settings settings;
  private final LogReader reader;
  private ProcessorContext<byte[], Result> context;
  private KeyValueStore<String, byte[]> store;
  private Core core;
  private int partition;
  private long next = -1;
  private boolean configured;
  private long toldAtMs;
  private long busyAtMs;

  ShuffleProcessor(Settings settings, LogReader reader) {
    this.settings = settings;
    this.reader = reader;
  }

  @Override
  public void init(ProcessorContext<byte[], Result> context) {
    this.context = context;
    partition = context.taskId().partition();
    store = context.getStateStore(STORE);
    busyAtMs = context.currentSystemTimeMs();
    core = new Core(settings.bundle(), this::emit, "createStockShuffle", partition, settings.epoch(), settings.shuffleTargets(), settings.shuffleTopic(),
        settings.stockJson(), busyAtMs);
    byte[] state = store.get("state");
    if (state != null) {
      String text = new String(state, StandardCharsets.UTF_8);
      int end = text.indexOf('\n');
      next = Long.parseLong(text.substring(0, end));
      core.call("restore", text.substring(end + 1));
    }
    context.schedule(Duration.ofMillis(250), PunctuationType.WALL_CLOCK_TIME, this::punctuate);
  }

  /** Nothing may be written while a task begins, so it is done before the first record or tick. */
  private void configure() {
    if (configured) return;
    configured = true;
    core.call("configure", settings.stockSources(), context.currentSystemTimeMs());
  }

  @Override
  public void process(Record<byte[], byte[]> record) {
    configure();
    long offset = context.recordMetadata().orElseThrow().offset();
    Metrics.count(core.record("onRecord", offset, record.timestamp(), record.value()));
    next = offset + 1;
    busyAtMs = context.currentSystemTimeMs();
    put();
  }

  private void punctuate(long nowMs) {
    configure();
    if (nowMs - busyAtMs >= settings.stockIdleMs()) {
      busyAtMs = nowMs;
      if (reader.hasMore(TOPIC, partition, Math.max(0, next))) return;
      core.call("beat", nowMs);
    } else if (nowMs - toldAtMs >= TELL_EVERY_MS) {
      toldAtMs = nowMs;
      core.call("mark");
    }
    put();
  }

  private void put() {
    byte[] state = (next + "\n" + core.text("snapshot")).getBytes(StandardCharsets.UTF_8);
    if (!Arrays.equals(state, store.get("state"))) store.put("state", state);
  }

  private void emit(String to, int toPartition, String key, String value, long timestampMs, String headers) {
    // What goes to a given partition has no key, and Kafka Streams drops records without a key before its own topics.
    String shuffledKey = key == null && to.equals(settings.shuffleTopic()) ? "" : key;
    context.forward(RecordText.resultOf(to, toPartition, shuffledKey, value, timestampMs, headers));
  }

  @Override
  public void close() {
    if (core != null) core.close();
  }
}
