package dozo.api.http;

/** What people edit: shown with a strong ETag of all that is shown, by {@link Editions}. */
public interface Edited {}
