package dozo.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FileSystemSyncTest {

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "6.18.44-fc, true",
        "5.8.0, true",
        "10.0, true",
        "5.7.19-generic, false",
        "4.18.0-553.el8.x86_64, false",
        "5, false",
        "unknown, false",
        "'', false"
    })
    void onlyKernelsThatReportFailedWritesAreTrusted(String version, boolean reports) {
        assertThat(FileSystemSync.reportsFailures(version)).isEqualTo(reports);
    }

    @Test
    void aFolderIsSyncedAsOftenAsWantedAndAMissingOneIsAnError() throws Exception {
        try (FileSystemSync sync = FileSystemSync.open(folder).orElseThrow()) {
            Files.writeString(folder.resolve("file"), "content");
            sync.sync();
            sync.sync();
        }
        assertThatThrownBy(() -> FileSystemSync.open(folder.resolve("missing")))
                .isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void manyMaySyncAtTheSameTime() throws Exception {
        try (FileSystemSync sync = FileSystemSync.open(folder).orElseThrow();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Path>> done = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                Path file = folder.resolve("file" + i);
                done.add(threads.submit(() -> {
                    Files.writeString(file, "content");
                    sync.sync();
                    return file;
                }));
            }
            for (Future<Path> each : done) {
                assertThat(each.get()).hasContent("content");
            }
        }
    }
}
