package cat.km0.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Shuffle and windows of stock in Flink's own harness for operators. */
class StockOperatorsTest {
  private static final long T0 = 1_789_380_000_000L;
  private static final int TARGETS = 2;
  private static final long IDLE_MS = 10_000;

  /** A broker that has {@code partitions}; there is more to read where it says so. */
  private record FakeEnds(int partitions, boolean more) implements LogEnds {
    @Override
    public boolean hasMore(int partition, long fromOffset) {
      return more;
    }

    @Override
    public void close() {}
  }

  private static final class Operators implements AutoCloseable {
    final OneInputStreamOperatorTestHarness<LogRecord, Result> shuffle;
    final KeyedOneInputStreamOperatorTestHarness<Integer, Result, Result> windows;
    final List<Result> results;

    Operators(String settings, int sources, boolean more, List<Result> results, OperatorSubtaskState shuffled, OperatorSubtaskState windowed)
        throws Exception {
      this.results = results;
      shuffle = new OneInputStreamOperatorTestHarness<>(new ShuffleOperator(7, settings, TARGETS, IDLE_MS, () -> new FakeEnds(sources, more)));
      OneInputStreamOperator<Result, Result> operator = new WindowsOperator(7, settings);
      windows = new KeyedOneInputStreamOperatorTestHarness<>(operator, result -> result.partition, Types.INT);
      if (shuffled != null) shuffle.initializeState(shuffled);
      if (windowed != null) windows.initializeState(windowed);
      shuffle.open();
      windows.open();
      at(T0);
    }

    void at(long nowMs) throws Exception {
      shuffle.setProcessingTime(nowMs);
      pass();
      windows.setProcessingTime(nowMs);
      pass();
    }

    void record(LogRecord record) throws Exception {
      shuffle.processElement(record, 0);
      pass();
    }

    void pass() throws Exception {
      for (Result result : shuffle.extractOutputValues()) windows.processElement(result, 0);
      shuffle.getOutput().clear();
      var told = shuffle.getSideOutput(ShuffleOperator.TOLD);
      if (told != null) {
        told.forEach(element -> results.add(element.getValue()));
        told.clear();
      }
      results.addAll(windows.extractOutputValues());
      windows.getOutput().clear();
    }

    @Override
    public void close() throws Exception {
      shuffle.close();
      windows.close();
    }
  }

  static Stream<Vectors.Vector> vectors() {
    return Vectors.of("stock_live");
  }

  /** Of alerts the last of each key, of everything else how often it was told. */
  private static void fold(Map<String, String> folded, String output, String key, String value) {
    if (output.equals("alertes")) folded.put(output + " " + key, Vectors.sorted(value));
    else folded.merge(output + " " + key + " " + Vectors.sorted(value), "I", String::concat);
  }

  private static Map<String, String> fold(List<Result> results) {
    Map<String, String> folded = new TreeMap<>();
    for (Result result : results) {
      String output = result.topic.replace("inventari.", "");
      if (List.of("alertes", "tardans", "rebutjats").contains(output)) fold(folded, output, result.key, result.value);
    }
    return folded;
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void giveTheAlertsOfTheVectorHoweverItsSourcesInterleave(Vectors.Vector vector) throws Exception {
    Map<String, String> want = new TreeMap<>();
    for (Vectors.Row row : vector.want()) fold(want, row.output(), row.key(), row.value());
    List<LogRecord> inOrder = new ArrayList<>(vector.log());
    inOrder.sort((one, other) -> Integer.compare(one.partition, other.partition));
    // What is late is decided by the source partition's own clock, so the order of reading changes no row by key.
    for (List<LogRecord> log : List.of(vector.log(), inOrder)) {
      assertEquals(want, fold(run(vector, log, Integer.MAX_VALUE)));
      assertEquals(want, fold(run(vector, log, 4)));
    }
  }

  /** Applies the log; both operators are lost, and restored from a snapshot, after each {@code every} records. */
  private static List<Result> run(Vectors.Vector vector, List<LogRecord> log, int every) throws Exception {
    int sources = vector.option("--partitions") == null ? 1 : vector.option("--partitions").intValue();
    List<Result> results = new ArrayList<>();
    Operators operators = new Operators(vector.settings(true), sources, true, results, null, null);
    int number = 0;
    for (LogRecord record : log) {
      operators.record(record);
      if (++number % every != 0) continue;
      OperatorSubtaskState shuffled = operators.shuffle.snapshot(number, 0);
      OperatorSubtaskState windowed = operators.windows.snapshot(number, 0);
      operators.close();
      operators = new Operators(vector.settings(true), sources, true, results, shuffled, windowed);
    }
    operators.at(T0 + 2_000);
    operators.close();
    return results;
  }

  private static String event(int stock, long atMs) {
    return "{\"tipus\":\"estoc.actualitzat\",\"data_ms\":" + atMs + ",\"dades\":{\"producte\":\"vi\",\"mercat\":\"girona\",\"estoc_actual\":" + stock + "}}";
  }

  private static long count(List<Result> results, String topic) {
    return results.stream().filter(result -> result.topic.equals(topic)).count();
  }

  @Test
  void aSourcePartitionWithoutARecordHoldsNothingBackWhenItIsSilent() throws Exception {
    List<Result> results = new ArrayList<>();
    try (Operators operators = new Operators("{\"delayMs\":0,\"allowedLatenessMs\":0}", 2, false, results, null, null)) {
      operators.record(Vectors.record(0, 0, T0 + 1_000, event(3, T0 + 1_000)));
      operators.at(T0 + 400_000);
      operators.at(T0 + 400_000 + IDLE_MS);
      assertEquals(1, count(results, "inventari.alertes"));
      assertEquals(1, count(results, "inventari.viu"));
      assertTrue(count(results, "inventari.marques") > 0);
    }
  }

  @Test
  void aSourcePartitionThatWasNotReadToItsEndIsNotTakenForSilent() throws Exception {
    List<Result> results = new ArrayList<>();
    try (Operators operators = new Operators("{\"delayMs\":0,\"allowedLatenessMs\":0}", 2, true, results, null, null)) {
      operators.record(Vectors.record(0, 0, T0 + 1_000, event(3, T0 + 1_000)));
      operators.at(T0 + 400_000);
      operators.at(T0 + 400_000 + IDLE_MS);
      assertEquals(0, count(results, "inventari.alertes"));
    }
  }

  @Test
  void numbersGoOnlyForwardAfterAStart() throws Exception {
    List<Result> results = new ArrayList<>();
    String settings = "{\"delayMs\":0,\"allowedLatenessMs\":0}";
    Operators operators = new Operators(settings, 1, true, results, null, null);
    operators.record(Vectors.record(0, 0, T0 + 1_000, event(3, T0 + 1_000)));
    OperatorSubtaskState shuffled = operators.shuffle.snapshot(1, 0);
    OperatorSubtaskState windowed = operators.windows.snapshot(1, 0);
    operators.record(Vectors.record(0, 1, T0 + 2_000, event(2, T0 + 2_000)));
    long before = number(results);
    operators.close();
    operators = new Operators(settings, 1, true, results, shuffled, windowed);
    operators.record(Vectors.record(0, 1, T0 + 2_000, event(2, T0 + 2_000)));
    operators.close();
    assertFalse(number(results) <= before);
  }

  /** Of the newest result: what sinks move forward by. */
  private static long number(List<Result> results) {
    Result last = results.stream().filter(result -> result.topic.equals("inventari.viu")).reduce((one, next) -> next).orElseThrow();
    return Long.parseLong(last.headers.replaceAll(".*offset_origen=(\\d+).*", "$1"));
  }
}
