package dozo.registry;

import java.nio.file.Path;
import java.util.List;

/** The folders in which Dozo keeps files of its own: the database, keys, passwords. Nothing is restored into them. */
public record OwnFolders(List<Path> folders) {}
