package dozo.api;

/** What people edit: shown with a strong ETag of all that is shown, by {@link Editions}. */
interface Edited {}
