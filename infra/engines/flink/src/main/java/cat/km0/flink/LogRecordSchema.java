package cat.km0.flink;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Takes a record of Kafka as it is: checks and decoding are the bundle's. */
public class LogRecordSchema implements KafkaRecordDeserializationSchema<LogRecord> {
  private static final long serialVersionUID = 1;
  private transient CharsetDecoder strict;

  @Override
  public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<LogRecord> out) {
    LogRecord log = new LogRecord();
    log.partition = record.partition();
    log.offset = record.offset();
    log.timestampMs = record.timestamp();
    log.validUtf8 = true;
    byte[] value = record.value();
    if (value != null) {
      log.byteLength = value.length;
      if (strict == null) {
        strict = StandardCharsets.UTF_8.newDecoder();
      }
      try {
        log.text = strict.decode(ByteBuffer.wrap(value)).toString();
      } catch (CharacterCodingException malformed) {
        log.text = new String(value, StandardCharsets.UTF_8);
        log.validUtf8 = false;
      }
    }
    out.collect(log);
  }

  @Override
  public TypeInformation<LogRecord> getProducedType() {
    return TypeInformation.of(LogRecord.class);
  }
}
