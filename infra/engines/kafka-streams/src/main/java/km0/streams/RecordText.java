package km0.streams;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.api.Record;

/** Records as the bundle says and reads them: headers are {@code name=value;name=value}. */
final class RecordText {
  private RecordText() {}

  static Record<byte[], Result> resultOf(String topic, int partition, String key, String value, long timestampMs, String headerText) {
    Headers headers = new RecordHeaders();
    if (!headerText.isEmpty()) {
      for (String pair : headerText.split(";")) {
        int at = pair.indexOf('=');
        headers.add(pair.substring(0, at), pair.substring(at + 1).getBytes(StandardCharsets.UTF_8));
      }
    }
    byte[] keyBytes = key == null ? null : key.getBytes(StandardCharsets.UTF_8);
    return new Record<>(keyBytes, new Result(topic, partition, value.getBytes(StandardCharsets.UTF_8)), timestampMs, headers);
  }

  static String headersOf(Headers headers) {
    StringBuilder text = new StringBuilder();
    for (Header header : headers) {
      if (text.length() > 0) text.append(';');
      text.append(header.key()).append('=').append(header.value() == null ? "" : new String(header.value(), StandardCharsets.UTF_8));
    }
    return text.toString();
  }
}
