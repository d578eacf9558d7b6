package cat.km0.flink;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.OutputTag;
import org.graalvm.polyglot.Value;

/**
 * Hosts the bundle's vans of this subtask: one JavaScript object a van, in memory, written into keyed state only at a checkpoint and only where
 * something has changed. Due windows and sessions are closed by the marks of the records themselves and of ticks; Flink's timers and watermarks play
 * no part. At a start all vans of the subtask are read back, since a silent one must close too.
 */
public class VanOperator extends BundleOperator<Result> implements OneInputStreamOperator<StampedRecord, Result>, BoundedOneInput {
  private static final long serialVersionUID = 1;
  static final OutputTag<MarkPart> MARKS = new OutputTag<>("marks", Types.POJO(MarkPart.class));
  private static final String STATE = "van";
  private static final long FLUSH_MS = 500;

  private static final class Van {
    Value object;
    double dueMs = Double.POSITIVE_INFINITY;
  }

  /** The van has something to do when its partition's watermark is here; out of date when the van says otherwise. */
  private record Due(double atMs, String key) {}

  private final long epoch;
  private final String settings;
  /** Of these topics only the newest record of a key is written, twice a second. */
  private final Set<String> newestOnly;
  private transient Map<String, Van> vans;
  private transient Map<Integer, PriorityQueue<Due>> dues;
  private transient Set<String> changed;
  private transient Map<List<String>, Result> newest;
  private transient ValueState<String> state;
  /** Key of the van that is at work: a van that comes in two partitions is two. */
  private transient String current;

  public VanOperator(long epoch, String settings, Set<String> newestOnly) {
    this.epoch = epoch;
    this.settings = settings;
    this.newestOnly = new HashSet<>(newestOnly);
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    state = context.getKeyedStateStore().getState(new ValueStateDescriptor<>(STATE, Types.STRING));
  }

  @Override
  public void open() throws Exception {
    super.open();
    vans = new HashMap<>();
    dues = new HashMap<>();
    changed = new HashSet<>();
    newest = new LinkedHashMap<>();
    bundle = new Bundle(this::emit);
    List<String> keys;
    try (var stored = this.<String>getKeyedStateBackend().getKeys(STATE, VoidNamespace.INSTANCE)) {
      keys = stored.toList();
    }
    for (String key : keys) {
      setCurrentKey(key);
      Van van = create(partitionOf(key));
      van.object.invokeMember("restore", state.value());
      vans.put(key, van);
      schedule(key, van);
    }
    every(FLUSH_MS, this::flush);
  }

  private static int partitionOf(String key) {
    return Integer.parseInt(key.substring(0, key.indexOf('|')));
  }

  private Van create(int partition) {
    Van van = new Van();
    van.object = bundle.create("createVan", partition, (double) epoch, settings);
    return van;
  }

  private void emit(Result result) {
    if (newestOnly.contains(result.topic)) {
      newest.put(List.of(result.topic, current), result);
    } else {
      output.collect(new StreamRecord<>(result));
    }
  }

  private void flush() {
    for (Result result : newest.values()) {
      output.collect(new StreamRecord<>(result));
    }
    newest.clear();
  }

  @Override
  public void processElement(StreamRecord<StampedRecord> element) {
    StampedRecord record = element.getValue();
    if (record.isTick()) {
      advance(record);
      if (record.mark != null) {
        passMark(record);
      }
      return;
    }
    Van van = vans.get(record.key);
    if (van == null) {
      van = create(record.partition);
      vans.put(record.key, van);
    }
    current = record.key;
    van.object.invokeMember(
        "onRecord",
        (double) record.offset,
        (double) record.timestampMs,
        record.text,
        record.byteLength,
        true,
        record.watermarkMs,
        record.finalMs);
    changed.add(record.key);
    schedule(record.key, van);
  }

  private void passMark(StampedRecord tick) {
    flush();
    MarkPart part = new MarkPart();
    part.mark = tick.mark;
    part.offset = tick.offset;
    part.parts = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
    output.collect(MARKS, new StreamRecord<>(part));
  }

  private void advance(StampedRecord tick) {
    PriorityQueue<Due> queue = dues.get(tick.partition);
    while (queue != null && !queue.isEmpty() && queue.peek().atMs <= tick.watermarkMs) {
      Due due = queue.poll();
      Van van = vans.get(due.key);
      if (van == null || van.dueMs != due.atMs) {
        continue;
      }
      current = due.key;
      van.object.invokeMember("advance", (double) tick.offset, (double) tick.timestampMs, tick.watermarkMs, tick.finalMs);
      changed.add(due.key);
      van.dueMs = Double.POSITIVE_INFINITY;
      schedule(due.key, van);
    }
  }

  private void schedule(String key, Van van) {
    double dueMs = van.object.getMember("nextDueMs").asDouble();
    if (dueMs == van.dueMs) {
      return;
    }
    van.dueMs = dueMs;
    if (dueMs != Double.POSITIVE_INFINITY) {
      dues.computeIfAbsent(partitionOf(key), partition -> new PriorityQueue<>((one, other) -> Double.compare(one.atMs, other.atMs)))
          .add(new Due(dueMs, key));
    }
  }

  @Override
  public void prepareSnapshotPreBarrier(long checkpointId) {
    flush();
  }

  @Override
  public void endInput() {
    flush();
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    for (String key : changed) {
      setCurrentKey(key);
      Value van = vans.get(key).object;
      if (van.getMember("isGone").asBoolean()) {
        state.clear();
        vans.remove(key);
      } else {
        state.update(van.invokeMember("snapshot").asString());
      }
    }
    changed.clear();
    super.snapshotState(context);
  }
}
