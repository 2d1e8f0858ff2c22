package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.command.Exit;
import dozo.people.Role;
import java.net.http.HttpClient;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A user leaves by command, by REST and on the pages; sessions and tokens end at once. */
class UserLeavesTest {

    @AutoClose
    private RunningService service;

    @BeforeEach
    void start() {
        service = RunningService.shared();
        service.createProject("P1");
        service.createUser("jane", Role.LAB_MANAGER, "P1");
        service.createUser("ken", Role.LAB_MANAGER);
        service.put("/api/v1/alerts/recipients/it", "{\"mail\": \"jane@example.org\"}")
                .expect(200);
    }

    @Test
    void aCommandListsAndHandsOver() {
        String token = service.as("jane")
                .post("/api/v1/me/tokens", "{\"name\": \"nightly\"}")
                .string("/secret");
        service.with("Bearer " + token).get("/api/v1/projects").expect(200);
        HttpClient browser = service.browser("jane");
        assertThat(service.page(browser, "/experiments")).contains("jane");
        assertThat(Ended.dozo(service, "user duties jane").out())
                .containsPattern("project +P1")
                .containsPattern("recipient +it +jane@example.org")
                .containsPattern("token +nightly +change +[0-9]{4}-");
        assertThat(Ended.dozo(service, "user duties ken").out()).isEqualTo("Nothing depends on this user.\n");

        Ended left = Ended.dozo(service, "user leave jane --to ken --mail ken@example.org");

        left.ends(0);
        assertThat(left.out())
                .startsWith("jane has left; ken takes over\n")
                .contains("  project P1\n", "  recipient it: jane@example.org\n", "  token nightly: change\n");
        service.with("Bearer " + token).get("/api/v1/projects").expect(401);
        service.as("jane").get("/api/v1/me").expect(401);
        assertThat(service.look(browser, "/experiments", "en").uri().getPath()).isEqualTo("/login");
        service.get("/api/v1/alerts/recipients").has("/0/mail", "ken@example.org");
        service.get("/api/v1/users/ken").has("/projects/0", "P1");
        assertThat(service.ledger()).extracting(row -> row.action()).contains("user.left");
        Ended.dozo(service, "user leave ken P1").ends(0);
    }

    @Test
    void whatIsWrongIsRefused() {
        assertThat(Ended.dozo(service, "user leave jane --to ken")
                        .ends(Exit.REFUSED)
                        .err())
                .contains("mail: recipient it has the address jane@example.org");
        service.post("/api/v1/users/jane/departure", "{\"to\": \"ken\", \"mail\": \"nobody\"}")
                .refused(422, "mail");
        service.post("/api/v1/users/jane/departure", "{}").refused(422, "to");
        service.post("/api/v1/users/nobody/departure", "{\"to\": \"ken\"}").isProblem(404);
        service.get("/api/v1/users/nobody/duties").isProblem(404);
        service.as("ken").get("/api/v1/users/jane/duties").expect(403);
        service.as("ken")
                .post("/api/v1/users/jane/departure", "{\"to\": \"ken\"}")
                .expect(403);
        assertThat(Ended.dozo(service, "user leave admin --to ken").err()).contains("cannot be disabled");
        assertThat(Ended.dozo(service, "user leave jane").ends(Exit.USAGE).err())
                .contains("--to");
        service.get("/api/v1/users/jane").has("/disabled", false);
    }

    @Test
    void aFormHandsOver() {
        HttpClient browser = service.browser();
        assertThat(service.page(browser, "/administration/users/jane"))
                .contains("What depends on this user", "jane@example.org", "/do/post/users/jane/departure?back=");
        assertThat(service.page(browser, "/do/post/users/jane/departure?back=/x"))
                .contains("<h1>jane leaves</h1>");

        Answer refused = service.submit(browser, "/do/post/users/jane/departure", "to=nobody&mail=&confirmed=true");
        assertThat(refused.text()).contains("expected another user who can log in");
        service.submit(
                browser, "/do/post/users/jane/departure", "to=ken&mail=ken%40example.org&confirmed=true&back=/x");

        service.get("/api/v1/users/jane").has("/disabled", true);
        assertThat(service.page(browser, "/administration/users/jane")).contains("Nothing.");
    }

    /** A refusal of REST that a form shows is in the language of the page. */
    @Test
    void whatDoesNotExistIsSaidInJapanese() {
        HttpClient browser = service.browser();
        service.page(browser, "/?lang=ja");

        String said = service.submit(browser, "/do/post/users/nobody/departure", "to=ken&mail=&confirmed=true")
                .text();

        assertThat(said).contains("ユーザー「nobody」はいません。").doesNotContain("does not exist");
    }
}
