package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.command.Location.Here;
import dozo.command.Location.There;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Local and remote locations are distinguished as scp does, and names are bytes. */
class LocationTest {

    private static final byte[] HOME = "/home/me".getBytes(StandardCharsets.UTF_8);

    @Test
    void sitesHaveAColonBeforeAnySlash() {
        assertThat(place("me@host:/srv/x")).isEqualTo(new There("me", "host", 0, "/srv/x"));
        assertThat(place("host:x")).isEqualTo(new There(null, "host", 0, "x"));
        assertThat(place("me@corp@host:")).isEqualTo(new There("me@corp", "host", 0, ""));
        assertThat(place("me@[2001:db8::7]:/x")).isEqualTo(new There("me", "2001:db8::7", 0, "/x"));
        assertThat(place("[::1]:x:y")).isEqualTo(new There(null, "::1", 0, "x:y"));
    }

    @Test
    void allElseIsHere() {
        for (String local : new String[] {"x", "/a:b", "./a:b", ":x", "a/b:c", "-", "~", "@", "[x]"}) {
            assertThat(place(local)).isEqualTo(new Here(local));
        }
    }

    @Test
    void addressesHaveAPort() {
        assertThat(place("scp://me@host:2222/a%20b")).isEqualTo(new There("me", "host", 2222, "a b"));
        assertThat(place("scp://host//srv/x")).isEqualTo(new There(null, "host", 0, "/srv/x"));
        assertThat(place("scp://[::1]:2222")).isEqualTo(new There(null, "::1", 2222, ""));
        assertThatThrownBy(() -> place("scp://me:password@host/x")).isInstanceOf(Failure.class);
    }

    @Test
    void aSlashAtTheEndMakesAFolder() {
        for (String folder : new String[] {"h:/x/", "h:", "h:~", "h:.", "h:/x/..", "./", ".", "/", "x/."}) {
            assertThat(place(folder).isFolder()).as(folder).isTrue();
        }
        for (String file : new String[] {"h:/x", "h:x", "x", "/x", ".x", "h:~/x"}) {
            assertThat(place(file).isFolder()).as(file).isFalse();
        }
    }

    @Test
    void pathsAtTheSiteBeginAtItsRootOrAtHome() {
        assertThat(remote("h:/srv//./x/")).isEqualTo("srv/x");
        assertThat(remote("h:x")).isEqualTo("home/me/x");
        assertThat(remote("h:")).isEqualTo("home/me");
        assertThat(remote("h:~")).isEqualTo("home/me");
        assertThat(remote("h:~/x")).isEqualTo("home/me/x");
        assertThat(remote("h:./~")).isEqualTo("home/me/~");
        assertThat(remote("h:/")).isEmpty();
        assertThatThrownBy(() -> remote("h:/srv/../x")).isInstanceOf(Failure.class);
        assertThatThrownBy(() -> remote("h:~other/x")).isInstanceOf(Failure.class);
    }

    @Test
    void pathsHereAreAbsolute() {
        assertThat(((Here) place("a/../b/./c//")).path())
                .isEqualTo(Path.of("b/c").toAbsolutePath());
        assertThat(((Here) place("/a/../../b/")).path()).isEqualTo(Path.of("/b"));
        assertThat(((Here) place("/")).path()).isEqualTo(Path.of("/"));
    }

    @Test
    void namesAreBytes() {
        byte[] typed = {'h', ':', '/', (byte) 0xFF, '/', (byte) 0x80, '\n'};
        There there = (There) Location.of(typed);
        assertThat(there.path(HOME).bytes()).isEqualTo(new byte[] {(byte) 0xFF, '/', (byte) 0x80, '\n'});

        byte[] local = {'/', 't', '/', (byte) 0xFF};
        assertThat(dozo.file.FilePath.rawBytes(((Here) Location.of(local)).path()))
                .isEqualTo(local);

        assertThat(place("h:/脳"))
                .extracting(there2 -> ((There) there2).path(HOME))
                .hasToString("脳");
    }

    private static Location place(String typed) {
        return Location.of(typed.getBytes(StandardCharsets.UTF_8));
    }

    private static String remote(String typed) {
        return ((There) place(typed)).path(HOME).toString();
    }
}
