package cat.km0.flink;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.OutputTag;
import org.graalvm.polyglot.Value;

/**
 * Runs the bundle's clock of each partition, chained to the source, and stamps each position with it: which positions are late depends on the log
 * alone, while Flink's own watermark, the minimum over partitions, depends on the order of reading.
 *
 * <p>Once a second a tick carries the partition's mark, when there is news.
 *
 * <p>When a partition's watermark has moved, a tick tells it to every subtask behind the shuffle, at each {@code TICK_MS} of watermark and
 * before each checkpoint; so a silent van's windows close when its partition's do. Clocks are kept in union-list state: after a start at another
 * parallelism every subtask sees all of them, and whoever reads a partition goes on with its own.
 */
public class StampOperator extends BundleOperator<StampedRecord>
    implements OneInputStreamOperator<LogRecord, StampedRecord>, BoundedOneInput {
  private static final long serialVersionUID = 1;
  /** Dead letters and outages. */
  static final OutputTag<Result> TOLD = new OutputTag<>("told", Types.POJO(Result.class));
  private static final long TICK_MS = 1_000;
  private static final long MARK_EVERY_MS = 1_000;

  /** A partition's clock and what of it was told. */
  private static final class Source {
    Value stamp;
    long nextOffset;
    long timestampMs;
    double watermarkMs = Double.NEGATIVE_INFINITY;
    double finalMs = Double.NEGATIVE_INFINITY;
    double toldMs = Double.NEGATIVE_INFINITY;
  }

  private final long epoch;
  private final String settings;
  private final Long outageAfterMs;
  private transient Map<Integer, Source> sources;
  /** Of partitions that this subtask has not read since its start. */
  private transient Map<Integer, PartitionState> restored;
  private transient ListState<String> state;
  private transient String[] tickKeys;
  private transient StreamRecord<StampedRecord> out;
  /** What the bundle has told since a mark was asked for; null at other times. */
  private transient List<Result> marked;

  /** {@code outageAfterMs}: null for the bundle's default. */
  public StampOperator(long epoch, String settings, Long outageAfterMs) {
    this.epoch = epoch;
    this.settings = settings;
    this.outageAfterMs = outageAfterMs;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    sources = new HashMap<>();
    state = context.getOperatorStateStore().getUnionListState(new ListStateDescriptor<>("clocks", Types.STRING));
    restored = PartitionState.furthest(state.get());
  }

  @Override
  public void open() throws Exception {
    super.open();
    out = new StreamRecord<>(null);
    bundle = new Bundle(this::emit);
    int parallelism = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
    int maxParallelism = getRuntimeContext().getTaskInfo().getMaxNumberOfParallelSubtasks();
    tickKeys = tickKeys(parallelism, maxParallelism);
    every(MARK_EVERY_MS, this::mark);
  }

  private void emit(Result result) {
    if (marked != null) {
      marked.add(result);
    } else {
      output.collect(TOLD, new StreamRecord<>(result));
    }
  }

  /** A mark goes the way of the positions, to every subtask, and is written when all have come as far. */
  private void mark() {
    double nowMs = nowMs();
    marked = new ArrayList<>();
    for (Map.Entry<Integer, Source> entry : sources.entrySet()) {
      entry.getValue().stamp.invokeMember("mark", nowMs);
      for (Result result : marked) {
        tell(entry.getKey(), entry.getValue(), result);
      }
      marked.clear();
    }
    marked = null;
  }

  /** For each subtask a key that belongs to it. No van has such a key: theirs begin with a digit. */
  static String[] tickKeys(int parallelism, int maxParallelism) {
    String[] keys = new String[parallelism];
    int missing = parallelism;
    for (int number = 0; missing > 0; number++) {
      String key = "#" + number;
      int subtask = KeyGroupRangeAssignment.assignKeyToParallelOperator(key, maxParallelism, parallelism);
      if (keys[subtask] == null) {
        keys[subtask] = key;
        missing--;
      }
    }
    return keys;
  }

  @Override
  public void processElement(StreamRecord<LogRecord> element) {
    LogRecord record = element.getValue();
    Source source = sources.get(record.partition);
    if (source == null) {
      source = open(record.partition);
    }
    source.stamp.invokeMember(
        "onRecord", (double) record.offset, (double) record.timestampMs, record.text, record.byteLength, record.validUtf8);
    source.nextOffset = record.offset + 1;
    source.timestampMs = record.timestampMs;
    Value van = source.stamp.getMember("van");
    if (!van.isNull()) {
      StampedRecord stamped = new StampedRecord();
      stamped.key = record.partition + "|" + van.asString();
      stamped.text = record.text;
      stamped.byteLength = record.byteLength;
      stamped.partition = record.partition;
      stamped.offset = record.offset;
      stamped.timestampMs = record.timestampMs;
      stamped.watermarkMs = source.stamp.getMember("watermarkBeforeMs").asDouble();
      stamped.finalMs = source.stamp.getMember("finalBeforeMs").asDouble();
      output.collect(out.replace(stamped));
    }
    source.watermarkMs = source.stamp.getMember("watermarkMs").asDouble();
    source.finalMs = source.stamp.getMember("finalMs").asDouble();
    if (source.watermarkMs >= source.toldMs + TICK_MS) {
      tell(record.partition, source, null);
    }
  }

  private Source open(int partition) {
    Source source = new Source();
    source.stamp = bundle.create("createStamp", partition, (double) epoch, settings, outageAfterMs == null ? null : (Object) outageAfterMs.doubleValue());
    PartitionState before = restored.remove(partition);
    if (before != null) {
      source.nextOffset = before.nextOffset();
      source.stamp.invokeMember("restore", before.snapshot());
    }
    sources.put(partition, source);
    return source;
  }

  private void tellAll() {
    sources.forEach(
        (partition, source) -> {
          if (source.watermarkMs > source.toldMs) {
            tell(partition, source, null);
          }
        });
  }

  private void tell(int partition, Source source, Result mark) {
    source.toldMs = source.watermarkMs;
    for (String key : tickKeys) {
      StampedRecord tick = new StampedRecord();
      tick.key = key;
      tick.partition = partition;
      tick.offset = source.nextOffset - 1;
      tick.timestampMs = source.timestampMs;
      tick.watermarkMs = source.watermarkMs;
      tick.finalMs = source.finalMs;
      tick.mark = mark;
      output.collect(out.replace(tick));
    }
  }

  @Override
  public void prepareSnapshotPreBarrier(long checkpointId) {
    // What this clock has told belongs to the same checkpoint as the clock.
    tellAll();
  }

  @Override
  public void endInput() {
    tellAll();
    mark();
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    state.clear();
    for (PartitionState unread : restored.values()) {
      state.add(unread.toString());
    }
    for (Map.Entry<Integer, Source> entry : sources.entrySet()) {
      Source source = entry.getValue();
      state.add(new PartitionState(entry.getKey(), source.nextOffset, source.stamp.invokeMember("snapshot").asString()).toString());
    }
  }
}
