package dozo.source;

import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;

/** Everything that a source reported. */
class Told implements Listings {

    final Map<FilePath, Facts> entries = new ConcurrentSkipListMap<>();
    final Set<FilePath> begun = new ConcurrentSkipListSet<>();
    final Set<FilePath> ended = new ConcurrentSkipListSet<>();
    final List<String> problems = new CopyOnWriteArrayList<>();

    @Override
    public Listing folder(FilePath folder) throws IOException, InterruptedException {
        if (!begun.add(folder)) {
            throw new IllegalStateException(folder + " was told twice");
        }
        return new Listing() {
            @Override
            public void entry(byte[] name, Facts facts) throws IOException, InterruptedException {
                FilePath path = folder.resolve(name);
                if (entries.put(path, facts) != null) {
                    throw new IllegalStateException(path + " was told twice");
                }
                told(path, facts);
            }

            @Override
            public void end() {
                ended.add(folder);
            }
        };
    }

    /** For tests that do something meanwhile. */
    void told(FilePath path, Facts facts) throws IOException, InterruptedException {}

    @Override
    public void problem(FilePath path, Problem problem, String message) throws IOException {
        problems.add(problem + " " + path + ": " + message);
    }

    Facts of(String path) {
        return entries.get(FilePath.of(path));
    }
}
