package cat.km0.flink;

import java.util.LinkedHashMap;
import java.util.Map;

/** How far a source partition was read, and what the bundle's object of it holds then. In union-list state as {@code partition offset snapshot}. */
record PartitionState(int partition, long nextOffset, String snapshot) {
  static PartitionState parse(String text) {
    String[] parts = text.split(" ", 3);
    return new PartitionState(Integer.parseInt(parts[0]), Long.parseLong(parts[1]), parts[2]);
  }

  /** By partition. Two subtasks may have held one, one of them from before it moved, or standing in: the further one is right. */
  static Map<Integer, PartitionState> furthest(Iterable<String> texts) {
    Map<Integer, PartitionState> found = new LinkedHashMap<>();
    for (String text : texts) {
      PartitionState state = parse(text);
      found.merge(state.partition, state, (one, other) -> one.nextOffset >= other.nextOffset ? one : other);
    }
    return found;
  }

  @Override
  public String toString() {
    return partition + " " + nextOffset + " " + snapshot;
  }
}
