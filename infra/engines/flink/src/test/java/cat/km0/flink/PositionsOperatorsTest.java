package cat.km0.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.streaming.util.ProcessFunctionTestHarnesses;
import org.graalvm.polyglot.Value;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Stamp and vans in Flink's own harness for operators, against the vectors of test/oracle: straight on, and restored in the middle. */
class PositionsOperatorsTest {
  private static final Map<String, String> OUTPUTS =
      Map.of("repartiment.panell", "panell", "repartiment.tardans", "tardans", "repartiment.rebutjats", "rebutjats", "repartiment.viu", "viu");
  private static final String MARKS = "repartiment.marques";
  private static final long OUTAGE_AFTER_MS = 60_000;

  static Stream<Vectors.Vector> vectors() {
    return Vectors.of("positions_live");
  }

  /** Both operators, open, from a state or from nothing. */
  private static final class Operators implements AutoCloseable {
    final OneInputStreamOperatorTestHarness<LogRecord, StampedRecord> stamp;
    final KeyedOneInputStreamOperatorTestHarness<String, StampedRecord, Result> vans;
    final List<Result> results;

    Operators(String settings, List<Result> results, OperatorSubtaskState stampState, OperatorSubtaskState vanState) throws Exception {
      this.results = results;
      stamp = new OneInputStreamOperatorTestHarness<>(new StampOperator(7, settings, OUTAGE_AFTER_MS));
      // No output is coalesced, so that all of them can be compared.
      OneInputStreamOperator<StampedRecord, Result> operator = new VanOperator(7, settings, Set.of());
      vans = new KeyedOneInputStreamOperatorTestHarness<>(operator, record -> record.key, Types.STRING);
      if (stampState != null) stamp.initializeState(stampState);
      if (vanState != null) vans.initializeState(vanState);
      stamp.open();
      vans.open();
    }

    void record(LogRecord record) throws Exception {
      stamp.processElement(record, record.timestampMs);
      pass();
    }

    /** What the first has told goes through the second, as on the way between them. */
    void pass() throws Exception {
      for (StampedRecord stamped : stamp.extractOutputValues()) vans.processElement(stamped, 0);
      stamp.getOutput().clear();
      var told = stamp.getSideOutput(StampOperator.TOLD);
      if (told != null) {
        told.forEach(element -> results.add(element.getValue()));
        told.clear();
      }
      results.addAll(vans.extractOutputValues());
      vans.getOutput().clear();
      var marks = vans.getSideOutput(VanOperator.MARKS);
      if (marks != null) {
        marks.forEach(element -> results.add(element.getValue().mark));
        marks.clear();
      }
    }

    @Override
    public void close() throws Exception {
      stamp.close();
      vans.close();
    }
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void giveTheRowsOfTheVectorByKey(Vectors.Vector vector) throws Exception {
    Map<String, List<String>> want = new TreeMap<>();
    for (Vectors.Row row : vector.want()) Vectors.put(want, row.output(), row.key(), row.value());
    assertEquals(want, byKey(run(vector, Integer.MAX_VALUE)));
    assertEquals(want, byKey(run(vector, 5)));
  }

  private static Map<String, List<String>> byKey(List<Result> results) {
    Map<String, List<String>> rows = new TreeMap<>();
    for (Result result : results) if (!result.topic.equals(MARKS)) Vectors.put(rows, OUTPUTS.get(result.topic), result.key, result.value);
    return rows;
  }

  /** Outages, and of each partition the last mark. */
  private static Map<String, String> marksOf(List<Result> results) {
    Map<String, String> marks = new TreeMap<>();
    for (Result result : results) if (result.topic.equals(MARKS)) marks.put(result.key, result.value);
    return marks;
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void tellTheMarksAndOutagesThatTheWholePartitionsEngineTells(Vectors.Vector vector) throws Exception {
    List<Result> want = new ArrayList<>();
    try (Bundle bundle = new Bundle(want::add)) {
      Map<Integer, Value> engines = new TreeMap<>();
      for (LogRecord record : vector.log()) {
        engines
            .computeIfAbsent(
                record.partition, partition -> bundle.create("createPositions", partition, 7.0, vector.settings(false), (double) OUTAGE_AFTER_MS))
            .invokeMember("onRecord", (double) record.offset, (double) record.timestampMs, record.text, record.byteLength, true);
      }
      engines.values().forEach(engine -> engine.invokeMember("mark", 0.0));
    }
    assertFalse(marksOf(want).isEmpty());
    assertEquals(marksOf(want), marksOf(run(vector, Integer.MAX_VALUE)));
    assertEquals(marksOf(want), marksOf(run(vector, 5)));
  }

  /** Applies the log; both operators are lost, and restored from a snapshot, after each {@code every} records. */
  private static List<Result> run(Vectors.Vector vector, int every) throws Exception {
    List<Result> results = new ArrayList<>();
    String settings = vector.settings(false);
    Operators operators = new Operators(settings, results, null, null);
    int number = 0;
    for (LogRecord record : vector.log()) {
      operators.record(record);
      if (++number % every != 0) continue;
      operators.stamp.prepareSnapshotPreBarrier(number);
      operators.pass();
      OperatorSubtaskState stampState = operators.stamp.snapshot(number, 0);
      OperatorSubtaskState vanState = operators.vans.snapshot(number, 0);
      operators.close();
      operators = new Operators(settings, results, stampState, vanState);
    }
    operators.stamp.prepareSnapshotPreBarrier(number);
    operators.pass();
    // A second has gone by.
    operators.stamp.setProcessingTime(1_000);
    operators.pass();
    operators.close();
    return results;
  }

  @Test
  void aMarkIsWrittenWhenEverySubtaskHasComeAsFar() throws Exception {
    try (var gate = ProcessFunctionTestHarnesses.forKeyedProcessFunction(new MarkGate(), (MarkPart part) -> part.mark.key, Types.STRING)) {
      String told = "";
      for (String step : List.of("0@5", "0@5", "1@5", "0@9", "0@5", "0@9", "1@5", "0@9", "1@5")) {
        MarkPart part = new MarkPart();
        part.mark = new Result();
        part.mark.key = step.substring(0, 1);
        part.mark.value = step;
        part.offset = Long.parseLong(step.substring(2));
        part.parts = 3;
        gate.processElement(part, 0);
        told += gate.extractOutputValues().size();
      }
      assertEquals("000011123", told);
      assertEquals(List.of("0@5", "0@9", "1@5"), gate.extractOutputValues().stream().map(result -> result.value).toList());
    }
  }
}
