package cat.km0.flink;

/**
 * What goes over the shuffle: a position with its partition's marks before it, or a tick, which says to one subtask how far the partition has come.
 * Both take the same way, so a tick never overtakes a position that is before it in the log.
 */
public class StampedRecord {
  /** Where it goes: {@code partition|van}, for a tick a key that belongs to the subtask. */
  public String key;
  /** The position; null for a tick. */
  public String text;
  public int byteLength;
  public int partition;
  public long offset;
  public long timestampMs;
  /** W and F of the partition: before the position, at the tick. */
  public double watermarkMs;
  public double finalMs;
  /** With a tick: what is to be written when all subtasks have come as far; null for nothing. */
  public Result mark;

  public boolean isTick() {
    return text == null;
  }
}
