package km0.kafka;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.SslAuthenticationException;
import org.apache.kafka.common.security.plain.PlainLoginModule;
import org.apache.kafka.common.security.scram.ScramLoginModule;

/**
 * How Kafka is reached, from the environment: docs/settings.md, "Connections", with the rules of packages/runtime/src/connections.ts. Both hosts
 * compile this folder into their own.
 */
public final class KafkaConnection {
  private static final List<String> NAMES = List.of("KAFKA_BROKERS", "KAFKA_TLS", "KAFKA_CA_FILE", "KAFKA_CERT_FILE", "KAFKA_KEY_FILE", "KAFKA_SASL",
      "KAFKA_USERNAME", "KAFKA_PASSWORD");
  private static final List<String> MECHANISMS = List.of("plain", "scram-sha-256", "scram-sha-512");
  private static final String CERTIFICATE = "-----BEGIN CERTIFICATE-----";
  private static final String KEY = "-----BEGIN PRIVATE KEY-----";
  private static final String NO_CERTIFICATE = "holds no certificate in PEM; one in DER becomes PEM by: openssl x509 -inform der -in ";
  private static final String NO_KEY = "holds no key that Java reads: PKCS#8 in PEM, without a password; make one by: openssl pkcs8 -topk8 -nocrypt -in ";

  private final List<String> wrong = new ArrayList<>();
  private final Map<String, String> given = new TreeMap<>();
  private final Map<String, String> client = new TreeMap<>();

  private KafkaConnection(Map<String, String> environment) {
    for (String name : NAMES) take(environment, name);
    brokers();
    boolean isSafe = tls();
    boolean isNamed = sasl();
    if (isSafe || isNamed) client.put("security.protocol", (isNamed ? "SASL_" : "") + (isSafe ? "SSL" : "PLAINTEXT"));
  }

  /**
   * Properties of Kafka's Java clients (consumer, producer, admin): {@code bootstrap.servers}, and what TLS and SASL need. Certificates and keys are in
   * them as text, so whoever gets the properties needs no file. Throws with a line for each setting that is wrong; no line holds a secret.
   */
  public static Map<String, String> of(Map<String, String> environment) {
    KafkaConnection connection = new KafkaConnection(environment);
    if (connection.wrong.isEmpty()) return connection.client;
    throw new IllegalArgumentException("settings of Kafka are wrong:\n  " + String.join("\n  ", connection.wrong));
  }

  /** What is said, and what to look at, when the error or one of its causes is that one side refuses the other; null when it is another one. */
  public static String refusal(Throwable error) {
    Throwable refused = error;
    while (refused != null && !(refused instanceof AuthenticationException)) refused = refused.getCause();
    if (refused == null) return null;
    String more = refused.getCause() == null ? "" : ": " + refused.getCause().getMessage();
    String look = refused instanceof SslAuthenticationException
        ? "KAFKA_CA_FILE, KAFKA_CERT_FILE, KAFKA_KEY_FILE, and the names in the broker's certificate"
        : "KAFKA_USERNAME, KAFKA_PASSWORD and KAFKA_SASL";
    return "no connection to Kafka: " + refused.getMessage() + more + "; look at " + look + " (docs/settings.md)";
  }

  /** A setting, or the text of the file that NAME_FILE names without the line end at its end; empty is not set. */
  private void take(Map<String, String> environment, String name) {
    String text = environment.getOrDefault(name, "");
    String file = environment.getOrDefault(name + "_FILE", "");
    if (!text.isEmpty() && !file.isEmpty()) {
      wrong.add(name + "_FILE: " + name + " is set too; set one of them");
    } else if (!file.isEmpty()) {
      String inside = read(name + "_FILE", file);
      if (inside == null) return;
      text = new String(inside.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8).replaceFirst("\\r?\\n\\z", "");
      if (text.isEmpty()) wrong.add(name + "_FILE: " + file + " is empty; write the setting into it");
    }
    if (!text.isEmpty()) given.put(name, text);
  }

  private void brokers() {
    String brokers = Stream.of(given.getOrDefault("KAFKA_BROKERS", "127.0.0.1:9092").split(",")).map(String::strip).collect(Collectors.joining(","));
    if (!brokers.matches("(([^\\s:/@,]+|\\[[^\\]]+\\]):\\d+(,|$))+")) {
      wrong.add("KAFKA_BROKERS: each broker is host:port, with commas between them; TLS is KAFKA_TLS=true, a name and its password are KAFKA_USERNAME and"
          + " KAFKA_PASSWORD");
    }
    client.put("bootstrap.servers", brokers);
  }

  /** Whether there is TLS. Names of servers are checked: ssl.endpoint.identification.algorithm is https unless it is changed. */
  private boolean tls() {
    String tls = given.getOrDefault("KAFKA_TLS", "");
    if (!List.of("", "true", "false").contains(tls)) wrong.add("KAFKA_TLS: is true or false, not " + tls);
    String authorities = pem("KAFKA_CA_FILE", CERTIFICATE, NO_CERTIFICATE);
    String certificate = pem("KAFKA_CERT_FILE", CERTIFICATE, NO_CERTIFICATE);
    String key = pem("KAFKA_KEY_FILE", KEY, NO_KEY);
    if (given.containsKey("KAFKA_CERT_FILE") != given.containsKey("KAFKA_KEY_FILE")) {
      wrong.add("KAFKA_CERT_FILE, KAFKA_KEY_FILE: one is set without the other; set both, or none");
    }
    if (authorities != null) {
      client.put("ssl.truststore.type", "PEM");
      client.put("ssl.truststore.certificates", authorities);
    }
    if (certificate != null && key != null) {
      client.put("ssl.keystore.type", "PEM");
      client.put("ssl.keystore.certificate.chain", certificate);
      client.put("ssl.keystore.key", key);
    }
    boolean hasFiles = Stream.of("KAFKA_CA_FILE", "KAFKA_CERT_FILE", "KAFKA_KEY_FILE").anyMatch(given::containsKey);
    if (hasFiles && tls.equals("false")) wrong.add("KAFKA_TLS: is false, but a certificate is named; leave one of them out");
    return hasFiles || tls.equals("true");
  }

  /** Whether there is a name and a password. */
  private boolean sasl() {
    String user = given.get("KAFKA_USERNAME");
    String password = given.get("KAFKA_PASSWORD");
    String mechanism = given.getOrDefault("KAFKA_SASL", "scram-sha-512");
    if (!MECHANISMS.contains(mechanism)) wrong.add("KAFKA_SASL: is one of " + String.join(", ", MECHANISMS) + ", not " + mechanism);
    if ((user == null) != (password == null)) wrong.add("KAFKA_USERNAME, KAFKA_PASSWORD: one is set without the other; set both, or none");
    if (given.containsKey("KAFKA_SASL") && user == null) wrong.add("KAFKA_SASL: needs KAFKA_USERNAME and KAFKA_PASSWORD");
    if (user == null || password == null) return false;
    String module = (mechanism.equals("plain") ? PlainLoginModule.class : ScramLoginModule.class).getName();
    client.put("sasl.mechanism", mechanism.toUpperCase(Locale.ROOT));
    client.put("sasl.jaas.config", module + " required username=" + quoted(user) + " password=" + quoted(password) + ";");
    return true;
  }

  /** As Kafka reads it: java.io.StreamTokenizer, where a backslash escapes and a line end would end the text. */
  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n").replace("\r", "\\r") + '"';
  }

  /** Text of the file that a setting names; null when there is none, or it is not what is wanted. */
  private String pem(String name, String begin, String otherwise) {
    String file = given.get(name);
    String text = file == null ? null : read(name, file);
    if (text == null || text.contains(begin)) return text;
    wrong.add(name + ": " + file + " " + otherwise + file);
    return null;
  }

  /** Bytes of a file, each a character; null when it cannot be read. */
  private String read(String name, String file) {
    try {
      return Files.readString(Path.of(file), StandardCharsets.ISO_8859_1);
    } catch (IOException | IllegalArgumentException error) {
      wrong.add(name + ": " + file + " cannot be read (" + error.getClass().getSimpleName() + "); name a file that this user may read");
      return null;
    }
  }
}
