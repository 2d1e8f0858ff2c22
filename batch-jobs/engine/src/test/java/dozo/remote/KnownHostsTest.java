package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** known_hosts files are read as OpenSSH reads them. */
class KnownHostsTest {

    private static final String A = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIN7MVD4mFKB5ATmpT+uC+nBuCHGWCv79nu0/57anDYeJ";
    private static final String B = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO3t0jTP2oHcK9zpQbHCU6REme93G/J93+E+S8ps3Wd4";
    private static final String C =
            "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBCwmhHelpfcTzAEDE7uqcPY+hTC/ZRyNX6H6"
                    + "Dsw6bksWA/32RrsyGSxQi4UAMtVPuGkA2uCl8uRWdqwaUtwnM4s=";

    /** Created by {@code ssh-keygen -H} from dr.example.org, [dr.example.org]:2222 and [::1]:2222. */
    private static final String HASHED = """
            |1|3zX+8eC2n+op2juX+ewPN6uVlO4=|eABrrgeWgNKyZYNZ7e/GpF4B8U8= %s
            |1|w9nvKzQVDUe7n0jhBEXQWASGCVM=|guXgERnRwK9x6XZU7boO1TlzXsw= %s
            |1|Af1Y3AanoT6ANnmKVA1moGGahtI=|q6i8o9742F0eyRbUjDGk7KSS/+s= %s
            """.formatted(A, B, C);

    @TempDir
    Path folder;

    @Test
    void plainNamesListsAndPorts() throws IOException {
        KnownHosts known = known("""
                # a comment

                dr.example.org,192.0.2.7 %s
                [dr.example.org]:2222 %s a comment
                [2001:db8::7]:2222 %s
                """.formatted(A, B, C));

        assertThat(known.keysOf("dr.example.org", 22)).isEqualTo(A);
        assertThat(known.keysOf("DR.example.ORG", 22)).isEqualTo(A);
        assertThat(known.keysOf("192.0.2.7", 22)).isEqualTo(A);
        assertThat(known.keysOf("dr.example.org", 2222)).isEqualTo(B);
        assertThat(known.keysOf("2001:db8::7", 2222)).isEqualTo(C);
        assertThat(known.keysOf("example.org", 22)).isEmpty();
        assertThat(known.keysOf("dr.example.org.evil.net", 22)).isEmpty();
    }

    @Test
    void whatIsKnownWithoutAPortHoldsForAnyOther() throws IOException {
        assertThat(known("dr.example.org " + A).keysOf("dr.example.org", 2222)).isEqualTo(A);
        assertThat(known("[dr.example.org]:2222 " + A).keysOf("dr.example.org", 22))
                .isEmpty();
    }

    @Test
    void hashedNames() throws IOException {
        KnownHosts known = known(HASHED);

        assertThat(known.keysOf("dr.example.org", 22)).isEqualTo(A);
        assertThat(known.keysOf("dr.example.org", 2222)).isEqualTo(B);
        assertThat(known.keysOf("::1", 2222)).isEqualTo(C);
        assertThat(known.keysOf("other.example.org", 22)).isEmpty();
    }

    @Test
    void wildcardsAndExceptions() throws IOException {
        KnownHosts known = known("*.example.org,!old.example.org,10.0.0.? " + A);

        assertThat(known.keysOf("dr.example.org", 22)).isEqualTo(A);
        assertThat(known.keysOf("10.0.0.3", 22)).isEqualTo(A);
        assertThat(known.keysOf("old.example.org", 22)).isEmpty();
        assertThat(known.keysOf("example.org", 22)).isEmpty();
    }

    @Test
    void aHostHasAllItsKeysFromAllFiles() throws IOException {
        Path one = Files.writeString(folder.resolve("one"), "h %s\nh %s\n".formatted(A, C));
        Path other = Files.writeString(folder.resolve("other"), "h %s\nh %s\n".formatted(A, B));

        KnownHosts known = KnownHosts.in(List.of(one, folder.resolve("not there"), other));

        assertThat(known.keysOf("h", 22).lines()).containsExactly(A, C, B);
    }

    @Test
    void revokedKeysAreNoKeys() throws IOException {
        KnownHosts known = known("h %s\nh %s\n@revoked * %s\n".formatted(A, B, A));

        assertThat(known.keysOf("h", 22)).isEqualTo(B);
        assertThat(known("h %s\n@revoked h %s\n".formatted(A, A)).keysOf("h", 2222))
                .isEmpty();
    }

    @Test
    void authoritiesAndWhatIsNotUnderstoodSayNothing() throws IOException {
        KnownHosts known = known("""
                @cert-authority * %s
                h
                h ssh-ed25519
                h ssh-ed25519 AAAA
                h new-kind@example.org AAAAC3NzaC1lZDI1NTE5AAAAIO3t0jTP2oHcK9zpQbHCU6REme93G/J93+E+S8ps3Wd4
                |1|broken %s
                h %s
                """.formatted(B, B, A));

        assertThat(known.keysOf("h", 22)).isEqualTo(A);
    }

    private KnownHosts known(String text) throws IOException {
        return KnownHosts.in(List.of(Files.writeString(folder.resolve("known_hosts"), text)));
    }
}
