package km0.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Low stock: the topology in Kafka's own test driver, and its processors with more than one source partition, which that driver does not have. */
class StockTest {
  private static final long T0 = 1_789_380_000_000L;

  /** A log in memory; nothing of it was committed unless a test says so. */
  private static final class ListReader implements LogReader {
    final List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    long committed = -1;

    @Override
    public void read(String topic, int partition, long fromOffset, long toOffset, Consumer<ConsumerRecord<byte[], byte[]>> each) {
      for (ConsumerRecord<byte[], byte[]> record : records) if (record.offset() >= fromOffset && record.offset() < toOffset) each.accept(record);
    }

    @Override
    public long committed(String topic, int partition) {
      return committed;
    }

    @Override
    public boolean hasMore(String topic, int partition, long fromOffset) {
      return false;
    }
  }

  static Stream<Vectors.Vector> vectors() {
    return Vectors.of("stock_live");
  }

  private static Settings settings(String stock, int sources, int targets) {
    return new Settings(Settings.bundleOf("../dist/km0-engine.js"), "test", 7, null, stock, null, Duration.ofSeconds(5), null, 10_000, sources, targets);
  }

  private static String json(byte[] value, boolean withRevision) {
    return Vectors.sorted(new String(value, StandardCharsets.UTF_8), withRevision);
  }

  /** Of alerts the last of each key without its revision, of everything else how often it was told. */
  private static void fold(Map<String, String> folded, String output, String key, String value) {
    if (output.equals("alertes")) folded.put(output + " " + key, Vectors.sorted(value, false));
    else folded.merge(output + " " + key + " " + Vectors.sorted(value, true), "1", (one, more) -> Integer.toString(Integer.parseInt(one) + 1));
  }

  private static Map<String, String> want(Vectors.Vector vector) {
    Map<String, String> folded = new TreeMap<>();
    for (Vectors.Row row : vector.want()) fold(folded, row.output(), row.key(), row.value());
    return folded;
  }

  /** A processor outside a running engine: what it forwards is taken after each call. */
  private static final class Task {
    final MockProcessorContext<byte[], Result> context;
    final Processor<byte[], byte[], byte[], Result> processor;
    private long nextOffset;

    Task(Processor<byte[], byte[], byte[], Result> processor, int subtopology, int partition, KeyValueStore<String, byte[]> store) {
      Properties properties = new Properties();
      properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "test");
      context = new MockProcessorContext<>(properties, new TaskId(subtopology, partition), null);
      context.setCurrentSystemTimeMs(T0);
      context.addStateStore(store);
      this.processor = processor;
      processor.init(context);
    }

    static KeyValueStore<String, byte[]> store(String name) {
      KeyValueStore<String, byte[]> store =
          Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(name), Serdes.String(), Serdes.ByteArray()).withLoggingDisabled().build();
      MockProcessorContext<byte[], Result> context = new MockProcessorContext<>();
      store.init(context.getStateStoreContext(), store);
      return store;
    }

    List<Record<byte[], Result>> take() {
      List<Record<byte[], Result>> out = new ArrayList<>();
      context.forwarded().forEach(forward -> out.add(new Record<>((byte[]) forward.record().key(), (Result) forward.record().value(),
          forward.record().timestamp(), forward.record().headers())));
      context.resetForwards();
      return out;
    }

    void process(String topic, Record<byte[], byte[]> record) {
      context.setRecordMetadata(topic, context.taskId().partition(), nextOffset++);
      processor.process(record);
    }

    void tick(long nowMs) {
      context.setCurrentSystemTimeMs(nowMs);
      context.scheduledPunctuators().forEach(punctuator -> punctuator.getPunctuator().punctuate(nowMs));
    }
  }

  /** Two partitions of the shuffle's topic: a key that {@code hash} puts on one of them, and copies on both. */
  private static int target(Record<byte[], Result> record) {
    return record.value().partition() >= 0 ? record.value().partition() : Math.floorMod(new String(record.key(), StandardCharsets.UTF_8).hashCode(), 2);
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void givesTheAlertsOfTheVectorHoweverItsSourcesInterleave(Vectors.Vector vector) {
    int sources = vector.option("--partitions") == null ? 1 : vector.option("--partitions").intValue();
    for (boolean oneAfterTheOther : new boolean[] {false, true}) {
      Settings settings = settings(vector.settings(), sources, 2);
      Map<String, String> folded = new TreeMap<>();
      List<Task> shuffles = new ArrayList<>();
      List<Task> windows = new ArrayList<>();
      for (int source = 0; source < sources; source++)
        shuffles.add(new Task(new ShuffleProcessor(settings, new ListReader()), 0, source, Task.store(ShuffleProcessor.STORE)));
      for (int target = 0; target < 2; target++) windows.add(new Task(new WindowsProcessor(settings, new ListReader()), 1, target, Task.store(WindowsProcessor.STORE)));
      List<Vectors.Line> log = new ArrayList<>(vector.log());
      // What is late is decided by the source partition's own clock, so the order of reading changes no row by key.
      if (oneAfterTheOther) log.sort((one, other) -> Integer.compare(one.partition(), other.partition()));
      for (Vectors.Line line : log) {
        Task shuffle = shuffles.get(line.partition());
        shuffle.process(ShuffleProcessor.TOPIC, new Record<>(null, line.value(), line.timestampMs()));
        pass(shuffle, windows, folded);
      }
      // Marks: what the vector's own records say has reached every target.
      for (Task shuffle : shuffles) {
        shuffle.tick(T0 + 5_000);
        pass(shuffle, windows, folded);
      }
      assertEquals(want(vector), folded);
    }
  }

  private static void pass(Task shuffle, List<Task> windows, Map<String, String> folded) {
    for (Record<byte[], Result> record : shuffle.take()) {
      String topic = record.value().topic();
      if (!topic.equals("test-barreja-repartition")) {
        fold(folded, "rebutjats", null, new String(record.value().value(), StandardCharsets.UTF_8));
        continue;
      }
      Task task = windows.get(target(record));
      task.process(topic, new Record<>(record.key(), record.value().value(), record.timestamp(), record.headers()));
      for (Record<byte[], Result> result : task.take()) {
        String output = result.value().topic().replace("inventari.", "");
        if (!output.equals("alertes") && !output.equals("tardans")) continue;
        String key = new String(result.key(), StandardCharsets.UTF_8);
        fold(folded, output, key, new String(result.value().value(), StandardCharsets.UTF_8));
      }
    }
  }

  private static byte[] event(int stock, long atMs) {
    return ("{\"tipus\":\"estoc.actualitzat\",\"data_ms\":" + atMs + ",\"dades\":{\"producte\":\"vi\",\"mercat\":\"girona\",\"estoc_actual\":" + stock + "}}")
        .getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void runsAsOneTopologyBehindTheEnginesOwnTopic() {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "test");
    try (TopologyTestDriver driver =
        new TopologyTestDriver(Topologies.stock(settings("{\"delayMs\":0,\"allowedLatenessMs\":0}", 1, 1), new ListReader()), properties, Instant.ofEpochMilli(T0))) {
      TestInputTopic<byte[], byte[]> input = driver.createInputTopic(ShuffleProcessor.TOPIC, new ByteArraySerializer(), new ByteArraySerializer());
      input.pipeInput(new TestRecord<>(null, event(3, T0 + 1_000), null, T0 + 1_000));
      input.pipeInput(new TestRecord<>(null, "{".getBytes(StandardCharsets.UTF_8), null, T0 + 2_000));
      assertEquals(null, Vectors.next(driver, "inventari.alertes"));
      // Nothing comes for 10 s, and the source was read to its end: the shuffle says so, and the window closes. Its clock is the machine's.
      driver.advanceWallClockTime(Duration.ofMinutes(6));
      TestRecord<byte[], byte[]> alert = Vectors.next(driver, "inventari.alertes");
      assertEquals(T0 + "|vi|girona", new String(alert.key(), StandardCharsets.UTF_8));
      assertEquals("0", Vectors.header(alert.headers(), "particio_origen"));
      assertEquals("{\"motiu\":\"invalid\"}", json(Vectors.next(driver, "inventari.rebutjats").value(), true));
      assertFalse(Vectors.next(driver, "inventari.marques") == null);
    }
  }

  @Test
  void whoeverTakesAWindowsTaskOverGoesOnWithEqualResults() {
    Settings settings = settings("{\"delayMs\":0,\"allowedLatenessMs\":0}", 1, 1);
    Task shuffle = new Task(new ShuffleProcessor(settings, new ListReader()), 0, 0, Task.store(ShuffleProcessor.STORE));
    ListReader log = new ListReader();
    for (int minute = 0; minute < 30; minute++) {
      shuffle.process(ShuffleProcessor.TOPIC, new Record<>(null, event(minute % 7, T0 + minute * 60_000L), T0 + minute * 60_000L));
      for (Record<byte[], Result> record : shuffle.take()) {
        if (!record.value().topic().equals(settings.shuffleTopic())) continue;
        ConsumerRecord<byte[], byte[]> written = new ConsumerRecord<>(settings.shuffleTopic(), 0, log.records.size(), record.key(), record.value().value());
        record.headers().forEach(written.headers()::add);
        log.records.add(written);
      }
    }
    List<String> straight = windows(settings, log, Integer.MAX_VALUE, 0);
    assertFalse(straight.isEmpty());
    // The state is stored after 12 records, the group has committed 20: eight are read again, and say nothing.
    assertEquals(straight, windows(settings, log, 20, 12));
  }

  /** Alerts of the whole log; the task is lost after {@code lostAt} records, its state was stored after {@code storedAt}. */
  private static List<String> windows(Settings settings, ListReader log, int lostAt, int storedAt) {
    KeyValueStore<String, byte[]> store = Task.store(WindowsProcessor.STORE);
    Task task = new Task(new WindowsProcessor(settings, log), 1, 0, store);
    List<String> alerts = new ArrayList<>();
    for (int offset = 0; offset < log.records.size(); offset++) {
      if (offset == lostAt) {
        task = new Task(new WindowsProcessor(settings, log), 1, 0, store);
        task.nextOffset = offset;
      }
      ConsumerRecord<byte[], byte[]> record = log.records.get(offset);
      task.process(settings.shuffleTopic(), new Record<>(record.key(), record.value(), T0, record.headers()));
      if (offset + 1 == storedAt) task.tick(T0 + 10_000);
      for (Record<byte[], Result> result : task.take())
        if (result.value().topic().equals("inventari.alertes")) alerts.add(json(result.value().value(), true));
    }
    return alerts;
  }
}
