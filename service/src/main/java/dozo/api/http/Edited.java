package dozo.api.http;

/** A resource that people edit. {@link Editions} sends it with a strong ETag of its whole representation. */
public interface Edited {}
