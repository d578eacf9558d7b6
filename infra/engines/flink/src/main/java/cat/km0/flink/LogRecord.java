package cat.km0.flink;

/** A record of the log, as the bundle takes it: primitives, nothing decoded but the text. */
public class LogRecord {
  public int partition;
  public long offset;
  public long timestampMs;
  /** The value as UTF-8, what is malformed replaced; null for none. */
  public String text;
  /** Of the value; 0 for none. */
  public int byteLength;
  public boolean validUtf8;
}
