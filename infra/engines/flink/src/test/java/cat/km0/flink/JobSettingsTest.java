package cat.km0.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;

class JobSettingsTest {
  private static final Map<String, String> SAFE =
      Map.of("KAFKA_BROKERS", "a:1", "KAFKA_TLS", "true", "KAFKA_USERNAME", "km0", "KAFKA_PASSWORD", "hidden");

  private static String[] words(String... words) {
    return words;
  }

  @Test
  void kafkaIsThatOfTheEnvironment() {
    Properties client = JobSettings.positions(words(), SAFE).kafka();
    assertEquals("a:1", client.getProperty("bootstrap.servers"));
    assertEquals("SASL_SSL", client.getProperty("security.protocol"));
    assertTrue(client.getProperty("sasl.jaas.config").contains("password=\"hidden\""));
  }

  @Test
  void wordsGoBeforeTheEnvironment() {
    Properties client = JobSettings.stock(words("brokers=b:2", "kafka.security.protocol=SSL", "kafka.fetch.max.bytes=7"), SAFE).kafka();
    assertEquals("b:2", client.getProperty("bootstrap.servers"));
    assertEquals("SSL", client.getProperty("security.protocol"));
    assertEquals("7", client.getProperty("fetch.max.bytes"));
    assertEquals("b:2", JobSettings.stock(words("brokers=b:2"), Map.of("KAFKA_BROKERS_FILE", "/none")).kafka().getProperty("bootstrap.servers"));
  }

  @Test
  void saysWhatIsMissing() {
    String told = assertThrows(IllegalArgumentException.class, () -> JobSettings.positions(words(), Map.of())).getMessage();
    assertTrue(told.contains("KAFKA_BROKERS=HOST:PORT") && told.contains("brokers=HOST:PORT"), told);
  }

  @Test
  void showsNoSecretOfAWordThatItDoesNotKnow() {
    String told = assertThrows(IllegalArgumentException.class, () -> JobSettings.positions(words("password=hidden"), SAFE)).getMessage();
    assertTrue(told.startsWith("'password' is not"), told);
    assertFalse(told.contains("hidden"), told);
  }
}
