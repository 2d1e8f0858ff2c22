package dozo.registry;

import java.nio.file.Path;
import java.util.List;

/** The folders of Dozo's own files: the database, keys, passwords. Nothing is restored into them. */
public record OwnFolders(List<Path> folders) {}
