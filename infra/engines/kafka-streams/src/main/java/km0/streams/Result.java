package km0.streams;

/** A result record. {@code partition} is -1 where the key decides. */
record Result(String topic, int partition, byte[] value) {}
