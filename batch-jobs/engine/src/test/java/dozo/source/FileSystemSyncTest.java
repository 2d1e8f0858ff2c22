package dozo.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
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
}
