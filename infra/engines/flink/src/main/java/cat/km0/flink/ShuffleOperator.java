package cat.km0.flink;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.OutputTag;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.utils.Utils;
import org.graalvm.polyglot.Value;

/**
 * The bundle's shuffle of stock, one object a source partition, chained to the source. What it says goes to the targets over Flink's own shuffle,
 * with the source partition's watermark attached, so what is late is decided by that partition's clock alone.
 *
 * <p>A source partition that nobody reads, since nothing is in it or everything was read before the last start, holds the others' windows back.
 * So one subtask stands in for each: for as long as the broker has nothing to read, it says what the one that reads would say.
 */
public class ShuffleOperator extends BundleOperator<Result> implements OneInputStreamOperator<LogRecord, Result>, BoundedOneInput {
  private static final long serialVersionUID = 1;
  /** Dead letters. */
  static final OutputTag<Result> TOLD = new OutputTag<>("told", Types.POJO(Result.class));
  /** What the bundle is told as the shuffle's topic; there is none. */
  private static final String SHUFFLE = "barreja";
  private static final long TELL_EVERY_MS = 700;
  private static final long LOOK_EVERY_MS = 2_000;

  private static final class Source {
    Value shuffle;
    long nextOffset;
    long busyAtMs;
    /** It was read here since the start: nobody else speaks for it. */
    boolean isRead;
  }

  private final long epoch;
  private final String settings;
  private final int targets;
  private final long idleMs;
  private final LogEnds.Factory broker;
  private transient LogEnds ends;
  private transient Map<Integer, Source> sources;
  /** Of partitions that this subtask does not speak for. */
  private transient Map<Integer, PartitionState> restored;
  private transient ListState<String> state;
  private transient int partitions;
  private transient long lookedAtMs;

  public ShuffleOperator(long epoch, String settings, int targets, long idleMs, LogEnds.Factory broker) {
    this.epoch = epoch;
    this.settings = settings;
    this.targets = targets;
    this.idleMs = idleMs;
    this.broker = broker;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    state = context.getOperatorStateStore().getUnionListState(new ListStateDescriptor<>("shuffles", Types.STRING));
    restored = PartitionState.furthest(state.get());
  }

  @Override
  public void open() throws Exception {
    super.open();
    sources = new TreeMap<>();
    bundle = new Bundle(this::emit);
    ends = broker.open();
    partitions = ends.partitions();
    every(TELL_EVERY_MS, this::tell);
  }

  private void emit(Result result) {
    if (!result.topic.equals(SHUFFLE)) {
      output.collect(TOLD, new StreamRecord<>(result));
      return;
    }
    if (result.partition < 0) {
      // As Kafka's own clients place a key, so that a product is in the partition of the results where our own job has it.
      result.partition = Utils.toPositive(Utils.murmur2(result.key.getBytes(StandardCharsets.UTF_8))) % targets;
    }
    output.collect(new StreamRecord<>(result));
  }

  private Source open(int partition) {
    Source source = new Source();
    source.busyAtMs = nowMs();
    source.shuffle = bundle.create("createStockShuffle", partition, (double) epoch, targets, SHUFFLE, settings, (double) nowMs());
    PartitionState before = restored.remove(partition);
    if (before != null) {
      source.nextOffset = before.nextOffset();
      source.shuffle.invokeMember("restore", before.snapshot());
    }
    sources.put(partition, source);
    partitions = Math.max(partitions, partition + 1);
    source.shuffle.invokeMember("configure", partitions, (double) nowMs());
    return source;
  }

  @Override
  public void processElement(StreamRecord<LogRecord> element) {
    LogRecord record = element.getValue();
    Source source = sources.get(record.partition);
    if (source == null) {
      source = open(record.partition);
    }
    source.isRead = true;
    source.shuffle.invokeMember(
        "onRecord", (double) record.offset, (double) record.timestampMs, record.text, record.byteLength, record.validUtf8);
    source.nextOffset = record.offset + 1;
    source.busyAtMs = nowMs();
  }

  private void tell() {
    long nowMs = nowMs();
    if (nowMs - lookedAtMs >= LOOK_EVERY_MS) {
      lookedAtMs = nowMs;
      look();
    }
    sources.forEach(
        (partition, source) -> {
          source.shuffle.invokeMember("mark");
          if (nowMs - source.busyAtMs < idleMs) {
            return;
          }
          source.busyAtMs = nowMs;
          if (!ends.hasMore(partition, source.nextOffset)) {
            source.shuffle.invokeMember("beat", (double) nowMs);
          }
        });
  }

  /** Source partitions that have come, and those that this subtask has to stand in for or no longer has to. */
  private void look() {
    try {
      int now = ends.partitions();
      if (now > partitions) {
        partitions = now;
        sources.values().forEach(source -> source.shuffle.invokeMember("configure", partitions, (double) nowMs()));
      }
    } catch (RetriableException noAnswer) {
      return;
    }
    int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    int parallelism = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
    for (int partition = subtask; partition < partitions; partition += parallelism) {
      Source source = sources.get(partition);
      if (source != null && source.isRead) {
        continue;
      }
      PartitionState before = restored.get(partition);
      long next = source != null ? source.nextOffset : before != null ? before.nextOffset() : 0;
      boolean hasMore = ends.hasMore(partition, next);
      if (source == null && !hasMore) {
        open(partition);
      } else if (source != null && hasMore) {
        restored.put(partition, stateOf(partition, source));
        sources.remove(partition);
      }
    }
  }

  private static PartitionState stateOf(int partition, Source source) {
    return new PartitionState(partition, source.nextOffset, source.shuffle.invokeMember("snapshot").asString());
  }

  @Override
  public void endInput() {
    sources.values().forEach(source -> source.shuffle.invokeMember("mark"));
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    state.clear();
    for (PartitionState unread : restored.values()) {
      state.add(unread.toString());
    }
    for (Map.Entry<Integer, Source> entry : sources.entrySet()) {
      state.add(stateOf(entry.getKey(), entry.getValue()).toString());
    }
  }

  @Override
  public void close() throws Exception {
    if (ends != null) {
      ends.close();
    }
    super.close();
  }
}
