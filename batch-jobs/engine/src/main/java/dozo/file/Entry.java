package dozo.file;

/**
 * One file, folder or link of a manifest.
 *
 * @param number its number within the experiment, from 1; a changed entry gets a new one
 */
public record Entry(int number, FilePath path, Facts facts) {}
