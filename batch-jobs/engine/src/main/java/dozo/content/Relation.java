package dozo.content;

/** What a file says of other files. */
public sealed interface Relation permits Instance, Companions {}
