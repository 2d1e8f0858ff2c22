package dozo.api;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Answer;
import dozo.RunningService;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Registration of a file of experiments over REST, and their search. */
class RegistrationApiTest {

    private static final String BULK = "/api/v1/experiments/bulk";
    private static final Charset SHIFT_JIS = Charset.forName("windows-31j");

    @TempDir
    static Path folder;

    @AutoClose
    private static RunningService service;

    @BeforeAll
    static void start() throws Exception {
        service = RunningService.shared();
        service.post("/api/v1/projects", "{\"code\": \"P1\"}").expect(201);
        for (String source : new String[] {"a", "b", "c", "d"}) {
            Files.createDirectory(folder.resolve(source));
        }
    }

    @Test
    void aFileIsAnsweredLineByLineAndItsExperimentsAreFound() {
        String csv = "プロジェクト,コード,フォルダ,題名,装置\r\nP1,A1,%s/a,視覚野,T7\r\nP1,A 2,%s/b,,\r\n".formatted(folder, folder);

        Answer dry = csv("?mode=each&dryRun=true", "text/csv", csv.getBytes(SHIFT_JIS));
        Answer all = csv("", "text/csv", csv.getBytes(SHIFT_JIS));
        Answer each = csv("?mode=each", "text/csv", csv.getBytes(SHIFT_JIS));

        dry.has("/accepted", 1);
        all.has("/mode", "all");
        all.has("/registered", 0);
        each.expect(200);
        assertThat(each.string("/encoding")).isEqualTo("windows-31j");
        assertThat(each.string("/separator")).isEqualTo(",");
        assertThat(each.at("/registered").asInt()).isEqualTo(1);
        assertThat(each.at("/refused").asInt()).isEqualTo(1);
        assertThat(each.string("/lines/0/outcome")).isEqualTo("REGISTERED");
        assertThat(each.string("/lines/0/title")).isEqualTo("視覚野");
        assertThat(each.at("/lines/1/line").asInt()).isEqualTo(3);
        assertThat(each.string("/lines/1/field")).isEqualTo("code");
        Answer found = service.get("/api/v1/experiments?q=%E8%A6%96%E8%A6%9A&scanner=T7&state=planned");
        assertThat(found.items()).isEqualTo(1);
        found.has("/items/0/code", "A1");
        found.has("/items/0/state", "planned");
    }

    @Test
    void theTypeCanSayTheEncoding() {
        byte[] csv =
                "project,code,source,title\nP1,B1,%s/c,é\n".formatted(folder).getBytes(StandardCharsets.UTF_8);

        csv("?dryRun=true", "text/csv", csv).refused(422, "encoding");
        csv("?dryRun=true", "text/csv; charset=latin1", csv).refused(422, "encoding");
        csv("?dryRun=true", "text/csv; charset=\"utf-8\"", csv).has("/lines/0/title", "é");
    }

    @Test
    void whatIsNoFileOfExperimentsIsRefused() {
        byte[] csv = "project,code,source\n".getBytes(StandardCharsets.UTF_8);

        csv("?mode=some", "text/csv", csv).refused(422, "mode");
        csv("", "text/csv", new byte[0]).refused(422, "columns");
        csv("", "text/csv", "project,code,source,name\n".getBytes(StandardCharsets.UTF_8))
                .refused(422, "columns");
        csv("?dryRun=perhaps", "text/csv", csv).refused(422, "dryRun");
        csv("", "text/csv", new byte[32 * 1024 * 1024 + 1]).refused(422, "file");
        csv("", "application/json", csv).expect(415);
        service.with(null).post(BULK, "text/csv", csv).expect(401);
        assertThat(csv("", "text/csv", csv).at("/lines").size()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "state=gone, state",
        "acquiredFrom=R8, acquiredFrom",
        "acquiredUntil=2026-02-30, acquiredUntil",
        "q=a%00b, q",
        "limit=0, limit"
    })
    void aSearchThatCannotBeIsRefused(String query, String field) {
        service.get("/api/v1/experiments?" + query).refused(422, field);
    }

    @Test
    void aTitleWithControlCharactersIsRefused() {
        service.post(
                        "/api/v1/experiments",
                        "{\"project\":\"P1\",\"code\":\"C1\",\"source\":\"%s/d\",\"title\":\"a\\u0000b\"}"
                                .formatted(folder))
                .refused(422, "title");
    }

    private static Answer csv(String query, String type, byte[] body) {
        return service.as("admin").post(BULK + query, type, body);
    }
}
