package km0.streams;

import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Reads a stretch of one partition once more, beside the task's own consumer. */
interface LogReader {
  /** All records from {@code fromOffset} (-1: the first there is) that are before {@code toOffset}, in order. */
  void read(String topic, int partition, long fromOffset, long toOffset, Consumer<ConsumerRecord<byte[], byte[]>> each);

  /** Where the application's group goes on; -1 before its first commit. */
  long committed(String topic, int partition);

  /** Whether there is anything to read at or after the offset. */
  boolean hasMore(String topic, int partition, long fromOffset);
}
