package dozo.remote;

import dozo.loopback.LoopbackSite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Starts hardened sites, as {@code docs/run/hardened-site.md} has an operator set them up. */
public final class GuardedSite {

    private GuardedSite() {}

    /** Starts a site whose account has our guard as its only command. */
    public static LoopbackSite start(Path state, Path root) throws IOException {
        return start(state, root, script());
    }

    /** Starts the same with a quota, as a partner has it; what is stored is counted in this file. */
    public static LoopbackSite withQuota(Path state, Path root, long quotaBytes, Path count) throws IOException {
        Files.createDirectories(root);
        return LoopbackSite.openSsh(
                state,
                root,
                0,
                "ForceCommand python3 -IS %s %s %d %s SHA256:%s"
                        .formatted(script(), root.toRealPath(), quotaBytes, count, "k".repeat(43)));
    }

    /** Starts the same with a guard that ends in the middle of a large file, as long as the file {@code dying} exists. */
    public static LoopbackSite dying(Path state, Path root, Path dying) throws IOException {
        Path other = dying.resolveSibling("dying.py");
        Files.writeString(
                other, Files.readString(script()).replace("def write_all(fd, data, offset):\n", """
                        def write_all(fd, data, offset):
                            if offset > 2 << 20 and os.path.exists('%s'):
                                os._exit(9)
                        """.formatted(dying)));
        return start(state, root, other);
    }

    /** Starts the same with another guard. */
    static LoopbackSite start(Path state, Path root, Path guard) throws IOException {
        Files.createDirectories(root);
        return LoopbackSite.openSsh(
                state,
                root,
                0,
                "ForceCommand python3 -IS '%s' '%s'".formatted(guard, root.toRealPath()),
                "DisableForwarding yes",
                "PermitTTY no");
    }

    /** Returns the path of that script. */
    public static String path() {
        return script().toString();
    }

    /** Returns the script that operators install. */
    static Path script() {
        for (Path folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
            Path script = folder.resolve("docs/site/dozo-guard.py");
            if (Files.exists(script)) {
                return script;
            }
        }
        throw new IllegalStateException("tests run inside the repository");
    }
}
