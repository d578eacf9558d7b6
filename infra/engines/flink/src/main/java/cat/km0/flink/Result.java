package cat.km0.flink;

/** A record for Kafka, as the bundle's {@code emit} gives it. */
public class Result {
  public String topic;
  /** -1 where the key decides. */
  public int partition;
  /** May be null. */
  public String key;
  public String value;
  public long timestampMs;
  /** {@code name=value;name=value}; empty for none. */
  public String headers;
}
