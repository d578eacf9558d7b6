package cat.km0.flink;

import java.io.Serializable;

/** What the broker tells of the source's topic. */
interface LogEnds extends AutoCloseable {
  int partitions();

  /** Whether there may be anything to read at or after the offset: also true when the broker does not answer. */
  boolean hasMore(int partition, long fromOffset);

  @Override
  void close();

  /** Opens one in each subtask. */
  interface Factory extends Serializable {
    LogEnds open();
  }
}
