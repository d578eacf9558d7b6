package km0.streams;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.test.TestRecord;
import org.graalvm.polyglot.Context;
import org.graalvm.polyglot.Value;

/** Logs with their right outputs: test/oracle/vectors. */
final class Vectors {
  private static final Path FOLDER = Path.of("../../../test/oracle/vectors");
  private static final Context JSON = Context.newBuilder("js").option("engine.WarnInterpreterOnly", "false").build();
  private static final Value PARSE = JSON.eval("js", "JSON.parse");
  /** Members in one order, revisions left out where asked. */
  private static final Value SORTED = JSON.eval("js", """
      (text, withRevision) => JSON.stringify(JSON.parse(text, (name, value) => value === null || typeof value !== 'object' || Array.isArray(value) ? value
        : Object.fromEntries(Object.entries(value).filter(([member]) => withRevision || member !== 'revisio').sort(([a], [b]) => (a < b ? -1 : 1)))))""");

  private Vectors() {}

  record Line(int partition, long offset, long timestampMs, byte[] value) {}

  record Row(String output, String key, String value, int partition, long offset) {}

  /** {@code words}: NAME.JOB_MODE_--OPTION_VALUE… of the file with the right output. */
  record Vector(String file, List<Line> log, List<Row> want) {
    /** The number after an option; null when it is not given. */
    Long option(String name) {
      List<String> words = List.of(file.replace(".out.ndjson", "").split("_"));
      int at = words.indexOf(name);
      return at < 0 ? null : Long.valueOf(words.get(at + 1));
    }

    String settings() {
      List<String> members = new ArrayList<>();
      if (option("--delay") != null) members.add("\"delayMs\":" + option("--delay"));
      if (option("--allowed-lateness") != null) members.add("\"allowedLatenessMs\":" + option("--allowed-lateness"));
      if (file.startsWith("lesson") || file.startsWith("stock")) {
        // The replay command has no allowed lateness unless it is told one; the stock job has.
        if (option("--allowed-lateness") == null) members.add("\"allowedLatenessMs\":0");
      } else {
        members.add("\"livePoints\":" + file.contains("--live-points"));
      }
      return "{" + String.join(",", members) + "}";
    }

    List<Integer> partitions() {
      return log.stream().map(Line::partition).distinct().sorted().toList();
    }

    @Override
    public String toString() {
      return file;
    }
  }

  static Stream<Vector> of(String jobAndMode) {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files.map(file -> file.getFileName().toString()).filter(name -> name.contains("." + jobAndMode) && name.endsWith(".out.ndjson")).sorted()
          .map(Vectors::read).toList().stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Vector read(String file) {
    List<Line> log = new ArrayList<>();
    for (Value line : lines(file.substring(0, file.indexOf('.')) + ".in.ndjson")) {
      Value value = line.getMember("value");
      byte[] bytes = value.isNull() ? null : value.asString().getBytes(StandardCharsets.UTF_8);
      log.add(new Line(line.getMember("partition").asInt(), line.getMember("offset").asLong(), (long) line.getMember("timestamp").asDouble(), bytes));
    }
    List<Row> want = new ArrayList<>();
    for (Value line : lines(file)) {
      Value key = line.getMember("key");
      Value at = line.getMember("at");
      String value = JSON.eval("js", "JSON.stringify").execute(line.getMember("value")).asString();
      want.add(new Row(line.getMember("topic").asString(), key.isNull() ? null : key.asString(), sorted(value, true), at.getMember("partition").asInt(),
          at.getMember("offset").asLong()));
    }
    return new Vector(file, log, want);
  }

  private static List<Value> lines(String file) {
    try {
      return Files.readAllLines(FOLDER.resolve(file)).stream().filter(line -> !line.isBlank()).map(PARSE::execute).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String sorted(String json, boolean withRevision) {
    return SORTED.execute(json, withRevision).asString();
  }

  static String header(Headers headers, String name) {
    return new String(headers.lastHeader(name).value(), StandardCharsets.UTF_8);
  }

  /** The next record of a topic; null when there is none. */
  static TestRecord<byte[], byte[]> next(TopologyTestDriver driver, String topic) {
    TestOutputTopic<byte[], byte[]> output = driver.createOutputTopic(topic, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    return output.isEmpty() ? null : output.readRecord();
  }
}
