package cat.km0.flink;

/** One subtask of the vans has written all that a partition's records up to this mark lead to. */
public class MarkPart {
  public Result mark;
  /** Offset that the mark stands for: each mark of a partition has another. */
  public long offset;
  /** Subtasks that say so. */
  public int parts;
}
