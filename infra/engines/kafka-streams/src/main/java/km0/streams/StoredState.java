package km0.streams;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.streams.state.KeyValueStore;

/** A task's state as of an offset, in pieces below the broker's largest message. All puts of one {@code put} are within one commit. */
final class StoredState {
  private static final int PIECE_CHARACTERS = 250_000;

  private final KeyValueStore<String, byte[]> store;

  StoredState(KeyValueStore<String, byte[]> store) {
    this.store = store;
  }

  record At(long nextOffset, String text) {}

  /** null when there is none. */
  At get() {
    byte[] head = store.get("head");
    if (head == null) return null;
    String[] words = new String(head, StandardCharsets.UTF_8).split(" ");
    StringBuilder text = new StringBuilder();
    for (int piece = 0; piece < Integer.parseInt(words[1]); piece++) text.append(new String(store.get("piece-" + piece), StandardCharsets.UTF_8));
    return new At(Long.parseLong(words[0]), text.toString());
  }

  void put(long nextOffset, String text) {
    byte[] head = store.get("head");
    int before = head == null ? 0 : Integer.parseInt(new String(head, StandardCharsets.UTF_8).split(" ")[1]);
    int pieces = 0;
    for (int from = 0; from < text.length(); pieces++) {
      int to = Math.min(text.length(), from + PIECE_CHARACTERS);
      // A pair of surrogates stays together.
      if (to < text.length() && Character.isHighSurrogate(text.charAt(to - 1))) to--;
      store.put("piece-" + pieces, text.substring(from, to).getBytes(StandardCharsets.UTF_8));
      from = to;
    }
    for (int piece = pieces; piece < before; piece++) store.delete("piece-" + piece);
    store.put("head", (nextOffset + " " + pieces).getBytes(StandardCharsets.UTF_8));
  }
}
