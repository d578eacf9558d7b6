package cat.km0.flink;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.graalvm.polyglot.Value;

/**
 * Windows, newest stock and episodes of stock, behind Flink's shuffle: one object of the bundle a target, the group of products and markets whose
 * results share a partition. In memory, and written into keyed state at a checkpoint where something has changed.
 */
public class WindowsOperator extends BundleOperator<Result> implements OneInputStreamOperator<Result, Result>, BoundedOneInput {
  private static final long serialVersionUID = 1;
  private static final String STATE = "windows";
  private static final long MARK_EVERY_MS = 1_000;
  /**
   * Records of a target are numbered here, and sinks move forward by that number. What was written after the checkpoint that a start goes on
   * from has numbers that are not known any more, so a start leaves this many out.
   */
  private static final long LEFT_OUT = 1L << 32;

  private static final class Target {
    Value windows;
    long next;
  }

  private final long epoch;
  private final String settings;
  private transient Map<Integer, Target> targets;
  private transient Set<Integer> changed;
  private transient ValueState<String> state;

  public WindowsOperator(long epoch, String settings) {
    this.epoch = epoch;
    this.settings = settings;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    state = context.getKeyedStateStore().getState(new ValueStateDescriptor<>(STATE, Types.STRING));
  }

  @Override
  public void open() throws Exception {
    super.open();
    targets = new TreeMap<>();
    changed = new HashSet<>();
    bundle = new Bundle(result -> output.collect(new StreamRecord<>(result)));
    List<Integer> keys;
    try (var stored = this.<Integer>getKeyedStateBackend().getKeys(STATE, VoidNamespace.INSTANCE)) {
      keys = stored.toList();
    }
    for (int key : keys) {
      setCurrentKey(key);
      String[] parts = state.value().split(" ", 2);
      Target target = create(key);
      target.next = Long.parseLong(parts[0]) + LEFT_OUT;
      target.windows.invokeMember("restore", parts[1], (double) target.next);
    }
    every(MARK_EVERY_MS, this::mark);
  }

  private Target create(int number) {
    Target target = new Target();
    target.windows = bundle.create("createStockWindows", number, (double) epoch, settings);
    targets.put(number, target);
    return target;
  }

  @Override
  public void processElement(StreamRecord<Result> element) {
    Result record = element.getValue();
    Target target = targets.get(record.partition);
    if (target == null) {
      target = create(record.partition);
    }
    int bytes = record.value.getBytes(StandardCharsets.UTF_8).length;
    int flags = target.windows.invokeMember("onRecord", (double) target.next, record.headers, record.value, bytes, true).asInt();
    if (flags < 0) {
      throw new IllegalStateException("a record of the shuffle has other headers: " + record.headers);
    }
    target.next++;
    changed.add(record.partition);
  }

  private void mark() {
    double nowMs = nowMs();
    targets.values().forEach(target -> target.windows.invokeMember("mark", nowMs));
  }

  @Override
  public void endInput() {
    mark();
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    for (int key : changed) {
      setCurrentKey(key);
      Target target = targets.get(key);
      state.update(target.next + " " + target.windows.invokeMember("snapshot").asString());
    }
    changed.clear();
    super.snapshotState(context);
  }
}
