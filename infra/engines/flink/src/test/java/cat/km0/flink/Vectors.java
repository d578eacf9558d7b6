package cat.km0.flink;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.graalvm.polyglot.Context;
import org.graalvm.polyglot.Value;

/** Logs with their right outputs: test/oracle/vectors. */
final class Vectors {
  private static final Path FOLDER = Path.of("../../../test/oracle/vectors");
  private static final Context JSON = Context.newBuilder("js").option("engine.WarnInterpreterOnly", "false").build();
  private static final Value PARSE = JSON.eval("js", "JSON.parse");
  /** Members in one order, without revisions: how often a window was told anew depends on the order of reading. */
  private static final Value SORTED =
      JSON.eval(
          "js",
          "text => JSON.stringify(JSON.parse(text, (name, value) => value === null || typeof value !== 'object' || Array.isArray(value) ? value"
              + " : Object.fromEntries(Object.entries(value).filter(([member]) => member !== 'revisio').sort(([a], [b]) => (a < b ? -1 : 1)))))");

  private Vectors() {}

  record Row(String output, String key, String value) {}

  /** The file with the right output is NAME.JOB_MODE_--OPTION_VALUE… */
  record Vector(String file, List<LogRecord> log, List<Row> want) {
    /** The number after an option; null when it is not given. */
    Long option(String name) {
      List<String> words = List.of(file.replace(".out.ndjson", "").split("_"));
      int at = words.indexOf(name);
      return at < 0 ? null : Long.valueOf(words.get(at + 1));
    }

    /** The pipeline's; the replay command, which made the files, has no allowed lateness unless it is told one. */
    String settings(boolean ofStock) {
      List<String> members = new ArrayList<>();
      if (option("--delay") != null) {
        members.add("\"delayMs\":" + option("--delay"));
      }
      if (option("--allowed-lateness") != null || ofStock) {
        members.add("\"allowedLatenessMs\":" + (option("--allowed-lateness") == null ? 0 : option("--allowed-lateness")));
      }
      if (!ofStock) {
        members.add("\"livePoints\":" + file.contains("--live-points"));
      }
      return "{" + String.join(",", members) + "}";
    }

    @Override
    public String toString() {
      return file;
    }
  }

  /** All of a job and mode: {@code positions_live}. */
  static Stream<Vector> of(String jobAndMode) {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.contains("." + jobAndMode) && name.endsWith(".out.ndjson"))
          .sorted()
          .map(Vectors::read)
          .toList()
          .stream();
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private static Vector read(String file) {
    List<LogRecord> log = new ArrayList<>();
    for (Value line : lines(file.substring(0, file.indexOf('.')) + ".in.ndjson")) {
      Value value = line.getMember("value");
      log.add(
          record(
              line.getMember("partition").asInt(),
              line.getMember("offset").asLong(),
              (long) line.getMember("timestamp").asDouble(),
              value.isNull() ? null : value.asString()));
    }
    List<Row> want = new ArrayList<>();
    for (Value line : lines(file)) {
      Value key = line.getMember("key");
      String value = JSON.eval("js", "JSON.stringify").execute(line.getMember("value")).asString();
      want.add(new Row(line.getMember("topic").asString(), key.isNull() ? null : key.asString(), sorted(value)));
    }
    return new Vector(file, log, want);
  }

  private static List<Value> lines(String file) {
    try {
      return Files.readAllLines(FOLDER.resolve(file)).stream().filter(line -> !line.isBlank()).map(PARSE::execute).toList();
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  static LogRecord record(int partition, long offset, long timestampMs, String text) {
    LogRecord record = new LogRecord();
    record.partition = partition;
    record.offset = offset;
    record.timestampMs = timestampMs;
    record.text = text;
    record.byteLength = text == null ? 0 : text.getBytes(StandardCharsets.UTF_8).length;
    record.validUtf8 = true;
    return record;
  }

  static String sorted(String json) {
    return SORTED.execute(json).asString();
  }

  /** Values of each output and key, in their order. */
  static void put(Map<String, List<String>> rows, String output, String key, String value) {
    rows.computeIfAbsent(output + " " + key, any -> new ArrayList<>()).add(sorted(value));
  }
}
