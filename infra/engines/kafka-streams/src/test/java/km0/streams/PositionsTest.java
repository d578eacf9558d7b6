package km0.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The positions topology in Kafka's own test driver, against the vectors. */
class PositionsTest {
  private static final Map<String, String> OUTPUTS = Map.of("panell", "repartiment.panell", "tardans", "repartiment.tardans", "rebutjats",
      "repartiment.rebutjats", "viu", "repartiment.viu");

  /** Nothing was committed before these tests. */
  private static final LogReader EMPTY = new LogReader() {
    @Override
    public void read(String topic, int partition, long fromOffset, long toOffset, Consumer<ConsumerRecord<byte[], byte[]>> each) {}

    @Override
    public long committed(String topic, int partition) {
      return -1;
    }

    @Override
    public boolean hasMore(String topic, int partition, long fromOffset) {
      return false;
    }
  };

  static Stream<Vectors.Vector> vectors() {
    return Vectors.of("positions_live");
  }

  static Settings settings(String positions, String seedFolder) {
    return new Settings(Settings.bundleOf("../dist/km0-engine.js"), "test", 7, positions, null, null, Duration.ofSeconds(5), seedFolder, 10_000, 1, 1);
  }

  private static TopologyTestDriver driver(Settings settings) {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "test");
    return new TopologyTestDriver(Topologies.positions(settings, EMPTY), properties, Instant.ofEpochMilli(0));
  }

  private static TestInputTopic<byte[], byte[]> input(TopologyTestDriver driver) {
    return driver.createInputTopic(PositionsProcessor.TOPIC, new ByteArraySerializer(), new ByteArraySerializer());
  }

  /** Everything that was written to an output since the last call. */
  private static List<Vectors.Row> read(TopologyTestDriver driver, String output) {
    List<Vectors.Row> rows = new ArrayList<>();
    for (TestRecord<byte[], byte[]> record = Vectors.next(driver, OUTPUTS.get(output)); record != null; record = Vectors.next(driver, OUTPUTS.get(output))) {
      assertEquals("7", Vectors.header(record.headers(), "epoca"));
      String key = record.key() == null ? null : new String(record.key(), StandardCharsets.UTF_8);
      rows.add(new Vectors.Row(output, key, Vectors.sorted(new String(record.value(), StandardCharsets.UTF_8), true), 0,
          Long.parseLong(Vectors.header(record.headers(), "offset_origen"))));
    }
    return rows;
  }

  private static List<Vectors.Row> want(Vectors.Vector vector, int partition, String output) {
    return vector.want().stream().filter(row -> row.partition() == partition && row.output().equals(output))
        .map(row -> new Vectors.Row(output, row.key(), row.value(), 0, row.offset())).toList();
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void writesTheRowsOfTheVectorInTheirOrder(Vectors.Vector vector) {
    for (int partition : vector.partitions()) {
      try (TopologyTestDriver driver = driver(settings(vector.settings(), null))) {
        TestInputTopic<byte[], byte[]> input = input(driver);
        List<Vectors.Row> live = new ArrayList<>();
        for (Vectors.Line line : vector.log()) {
          if (line.partition() != partition) continue;
          input.pipeInput(new TestRecord<>(null, line.value(), null, line.timestampMs()));
          // Live points wait for the next tick.
          driver.advanceWallClockTime(Duration.ofMillis(200));
          live.addAll(read(driver, "viu"));
        }
        for (String output : List.of("panell", "tardans", "rebutjats")) assertEquals(want(vector, partition, output), read(driver, output));
        assertEquals(want(vector, partition, "viu"), live);
      }
    }
  }

  @Test
  void tellsOfEachVanTheNewestPointOnceATick() {
    try (TopologyTestDriver driver = driver(settings(null, null))) {
      TestInputTopic<byte[], byte[]> input = input(driver);
      for (int second = 0; second < 5; second++) input.pipeInput(position("a", 1_789_380_000_000L + second * 1_000));
      assertEquals(List.of(), read(driver, "viu"));
      driver.advanceWallClockTime(Duration.ofMillis(200));
      assertEquals(List.of(4L), read(driver, "viu").stream().map(Vectors.Row::offset).toList());
      driver.advanceWallClockTime(Duration.ofMillis(200));
      assertEquals(List.of(), read(driver, "viu"));
    }
  }

  @Test
  void tellsHowFarItIsAtMostOnceASecond() {
    try (TopologyTestDriver driver = driver(settings(null, null))) {
      input(driver).pipeInput(position("a", 1_789_380_000_000L));
      driver.advanceWallClockTime(Duration.ofSeconds(3));
      String mark = new String(Vectors.next(driver, "repartiment.marques").value(), StandardCharsets.UTF_8);
      assertTrue(mark.contains("\"offset\":1,\"marca_aigua_ms\":1789379955000,"), mark);
      assertEquals(null, Vectors.next(driver, "repartiment.marques"), "no news, no mark");
    }
  }

  @Test
  void goesOnFromAStateOfAnotherEngine(@TempDir Path folder) throws Exception {
    Vectors.Vector vector = vectors().filter(one -> one.file().startsWith("borders")).findFirst().orElseThrow();
    List<Vectors.Line> log = vector.log().stream().filter(line -> line.partition() == 0).toList();
    int half = log.size() / 2;
    try (Core core = new Core(Settings.bundleOf("../dist/km0-engine.js"), (topic, partition, key, value, timestampMs, headers) -> {}, "createPositions", 0, 7,
        vector.settings(), null)) {
      for (Vectors.Line line : log.subList(0, half)) core.record("onRecord", line.offset(), line.timestampMs(), line.value());
      core.call("flush");
      Files.writeString(folder.resolve("0.state"), half + "\n" + core.text("snapshot"));
    }
    try (TopologyTestDriver driver = driver(settings(vector.settings(), folder.toString()))) {
      // The group begins at the log's first record: what the state holds is passed over.
      for (Vectors.Line line : log) input(driver).pipeInput(new TestRecord<>(null, line.value(), null, line.timestampMs()));
      for (String output : List.of("panell", "tardans", "rebutjats"))
        assertEquals(want(vector, 0, output).stream().filter(row -> row.offset() >= half).toList(), read(driver, output));
    }
  }

  private static TestRecord<byte[], byte[]> position(String van, long atMs) {
    String value = "{\"repartidor\":\"" + van + "\",\"lat\":41.9,\"lon\":2.8,\"data_ms\":" + atMs + "}";
    return new TestRecord<>(null, value.getBytes(StandardCharsets.UTF_8), null, atMs);
  }
}
