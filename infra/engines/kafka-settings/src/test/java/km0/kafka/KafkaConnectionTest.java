package km0.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.SslAuthenticationException;
import org.apache.kafka.common.security.JaasContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KafkaConnectionTest {
  private static final String CERTIFICATE = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  private static final String KEY = "-----BEGIN PRIVATE KEY-----\nBBBB\n-----END PRIVATE KEY-----\n";
  private static final String NASTY = "p,@:% \\ \"quoted\" 'ñ€' ; = \t\n end";

  @TempDir Path folder;

  private String file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text).toString();
  }

  private static String wrong(Map<String, String> environment) {
    return assertThrows(IllegalArgumentException.class, () -> KafkaConnection.of(environment)).getMessage();
  }

  @Test
  void withoutSettingsIsPlain() {
    assertEquals(Map.of("bootstrap.servers", "127.0.0.1:9092"), KafkaConnection.of(Map.of()));
    assertEquals(Map.of("bootstrap.servers", "a:1,[::1]:2"), KafkaConnection.of(Map.of("KAFKA_BROKERS", "a:1, [::1]:2", "KAFKA_PASSWORD", "", "KAFKA_TLS", "false")));
  }

  @Test
  void certificatesAndKeyAreInTheProperties() throws IOException {
    assertEquals(
        Map.of("bootstrap.servers", "a:1", "security.protocol", "SSL", "ssl.truststore.type", "PEM", "ssl.truststore.certificates", CERTIFICATE,
            "ssl.keystore.type", "PEM", "ssl.keystore.certificate.chain", CERTIFICATE, "ssl.keystore.key", KEY),
        KafkaConnection.of(Map.of("KAFKA_BROKERS", "a:1", "KAFKA_CA_FILE", file("ca", CERTIFICATE), "KAFKA_CERT_FILE", file("cert", CERTIFICATE),
            "KAFKA_KEY_FILE", file("key", KEY))));
    assertEquals(Map.of("bootstrap.servers", "127.0.0.1:9092", "security.protocol", "SSL"), KafkaConnection.of(Map.of("KAFKA_TLS", "true")));
  }

  @Test
  void everySettingMayBeAFile() throws IOException {
    Map<String, String> client = KafkaConnection.of(Map.of("KAFKA_BROKERS_FILE", file("brokers", "a:1,b:2\r\n"), "KAFKA_TLS_FILE", file("tls", "true\n"),
        "KAFKA_SASL_FILE", file("sasl", "plain\n"), "KAFKA_USERNAME_FILE", file("user", "km0"), "KAFKA_PASSWORD_FILE", file("password", NASTY + "\n")));
    assertEquals("a:1,b:2", client.get("bootstrap.servers"));
    assertEquals("SASL_SSL", client.get("security.protocol"));
    assertEquals("PLAIN", client.get("sasl.mechanism"));
    assertEquals(NASTY, option(client, "password"));
  }

  @Test
  void kafkaReadsNameAndPasswordAsTheyWereGiven() {
    for (String mechanism : new String[] {"plain", "scram-sha-256", "scram-sha-512"}) {
      Map<String, String> client = KafkaConnection.of(Map.of("KAFKA_SASL", mechanism, "KAFKA_USERNAME", "a\"b", "KAFKA_PASSWORD", NASTY));
      assertEquals("SASL_PLAINTEXT", client.get("security.protocol"));
      assertEquals(mechanism.toUpperCase(), client.get("sasl.mechanism"));
      assertEquals("a\"b", option(client, "username"));
      assertEquals(NASTY, option(client, "password"));
    }
    assertEquals("SCRAM-SHA-512", KafkaConnection.of(Map.of("KAFKA_USERNAME", "a", "KAFKA_PASSWORD", "b")).get("sasl.mechanism"));
  }

  private static String option(Map<String, String> client, String name) {
    // The types of Kafka's own definitions: a password is none that is shown.
    Map<String, Object> parsed = new HashMap<>(new AdminClientConfig(new HashMap<>(client)).values());
    assertFalse(parsed.toString().contains("quoted"));
    return String.valueOf(JaasContext.loadClientContext(parsed).configurationEntries().get(0).getOptions().get(name));
  }

  @Test
  void saysWhatIsWrongAndWhatToDo() throws IOException {
    String certificate = file("cert", CERTIFICATE);
    String old = file("old", "-----BEGIN EC PRIVATE KEY-----\nBBBB\n-----END EC PRIVATE KEY-----\n");
    Map<String, Map<String, String>> cases = Map.ofEntries(
        Map.entry("KAFKA_TLS: is true or false, not yes", Map.of("KAFKA_TLS", "yes")),
        Map.entry("KAFKA_TLS: is false, but a certificate is named", Map.of("KAFKA_TLS", "false", "KAFKA_CA_FILE", certificate)),
        Map.entry("KAFKA_SASL: is one of plain, scram-sha-256, scram-sha-512, not gssapi", Map.of("KAFKA_SASL", "gssapi")),
        Map.entry("KAFKA_SASL: needs KAFKA_USERNAME and KAFKA_PASSWORD", Map.of("KAFKA_SASL", "plain")),
        Map.entry("KAFKA_USERNAME, KAFKA_PASSWORD: one is set without the other", Map.of("KAFKA_USERNAME", "a")),
        Map.entry("KAFKA_CERT_FILE, KAFKA_KEY_FILE: one is set without the other", Map.of("KAFKA_CERT_FILE", certificate)),
        Map.entry("KAFKA_CA_FILE: /none/ca.pem cannot be read (NoSuchFileException)", Map.of("KAFKA_CA_FILE", "/none/ca.pem")),
        Map.entry("KAFKA_CA_FILE: " + old + " holds no certificate in PEM", Map.of("KAFKA_CA_FILE", old)),
        Map.entry("openssl pkcs8 -topk8 -nocrypt -in " + old, Map.of("KAFKA_CERT_FILE", certificate, "KAFKA_KEY_FILE", old)),
        Map.entry("KAFKA_PASSWORD_FILE: KAFKA_PASSWORD is set too", Map.of("KAFKA_USERNAME", "a", "KAFKA_PASSWORD", "b", "KAFKA_PASSWORD_FILE", certificate)),
        Map.entry("KAFKA_PASSWORD_FILE: /none/password cannot be read", Map.of("KAFKA_USERNAME", "a", "KAFKA_PASSWORD_FILE", "/none/password")),
        Map.entry("is empty; write the setting into it", Map.of("KAFKA_USERNAME", "a", "KAFKA_PASSWORD_FILE", file("empty", "\n"))),
        Map.entry("KAFKA_BROKERS: each broker is host:port", Map.of("KAFKA_BROKERS", "a:1,b")));
    cases.forEach((said, environment) -> assertTrue(wrong(environment).contains(said), () -> said + " is not in " + wrong(environment)));
  }

  @Test
  void showsNoSecret() {
    String told = wrong(Map.of("KAFKA_BROKERS", "kafkas://km0:hidden@a:1", "KAFKA_PASSWORD", "hidden", "KAFKA_SASL", "none"));
    assertFalse(told.contains("hidden"), told);
    assertEquals(4, told.lines().filter(line -> line.startsWith("  KAFKA_")).count(), told);
  }

  @Test
  void tellsARefusalFromOtherErrors() {
    assertNull(KafkaConnection.refusal(new ExecutionException(new IllegalStateException("other"))));
    String named = KafkaConnection.refusal(new ExecutionException(new SaslAuthenticationException("invalid credentials")));
    assertEquals("no connection to Kafka: invalid credentials; look at KAFKA_USERNAME, KAFKA_PASSWORD and KAFKA_SASL (docs/settings.md)", named);
    String safe = KafkaConnection.refusal(new SslAuthenticationException("SSL handshake failed", new IOException("no path")));
    assertTrue(safe.startsWith("no connection to Kafka: SSL handshake failed: no path; look at KAFKA_CA_FILE"), safe);
  }
}
