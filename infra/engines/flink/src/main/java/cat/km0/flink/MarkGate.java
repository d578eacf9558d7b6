package cat.km0.flink;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Lets a partition's mark pass when every subtask of the vans has come as far. Needs no state: at a checkpoint's barrier all parts of the marks
 * before it are here.
 */
public class MarkGate extends KeyedProcessFunction<String, MarkPart, Result> {
  private static final long serialVersionUID = 1;

  /** How many parts are here of each mark that waits, by the mark's key and offset. */
  private transient Map<String, Map<Long, Integer>> waiting;

  @Override
  public void open(OpenContext context) {
    waiting = new HashMap<>();
  }

  @Override
  public void processElement(MarkPart part, Context context, Collector<Result> out) {
    Map<Long, Integer> marks = waiting.computeIfAbsent(part.mark.key, key -> new HashMap<>());
    if (marks.merge(part.offset, 1, Integer::sum) < part.parts) {
      return;
    }
    marks.remove(part.offset);
    out.collect(part.mark);
  }
}
