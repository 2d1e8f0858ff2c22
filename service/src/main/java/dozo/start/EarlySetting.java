package dozo.start;

/** A setting that is read, and refused if it is wrong, before the database is opened. */
public interface EarlySetting {}
