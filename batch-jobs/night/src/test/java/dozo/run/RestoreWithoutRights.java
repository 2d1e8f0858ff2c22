package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Copy.Options;
import dozo.copy.Inventory.Item;
import dozo.copy.Inventory.StoredCopy;
import dozo.copy.Restore;
import dozo.db.ChildJava;
import dozo.file.Attributes;
import dozo.file.Attributes.Attribute;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Owner;
import dozo.file.Selection;
import dozo.remote.ChildProcess;
import dozo.remote.SiteAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A restore, with owners, in a process that must not change owners. It prints its findings. The site has the file
 * {@code p/E1/data/program}; its owner, ACL and attributes are made up.
 */
final class RestoreWithoutRights {

    private static final int LIMIT_SECONDS = 60;

    private RestoreWithoutRights() {}

    static List<String> run(SiteAddress site, String content, Attribute acl, Path target) throws Exception {
        boolean isRoot = System.getProperty("user.name").equals("root");
        Process process = ChildJava.of(RestoreWithoutRights.class)
                .by(isRoot ? List.of("setpriv", "--bounding-set", "-chown,-sys_admin,-setfcap") : List.of())
                .options("-Xmx256m")
                .arguments(ChildProcess.words(site))
                .arguments(content, HexFormat.of().formatHex(acl.value()), target.toString())
                .process()
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output.lines().filter(line -> line.startsWith("NOT_SET ")).toList();
    }

    static void main(String[] arguments) throws Exception {
        SiteAddress site = ChildProcess.site(arguments);
        byte[] content = arguments[6].getBytes(StandardCharsets.UTF_8);
        Attributes attributes = Attributes.of(List.of(
                new Attribute(Attributes.ACL, HexFormat.of().parseHex(arguments[7])),
                new Attribute("trusted.dozo", new byte[1]),
                new Attribute("user.comment", new byte[1])));
        Facts facts = new Facts(EntryKind.FILE, content.length, 0, 0, 04755, null, null)
                .with(new Owner(1_234, 1_234), attributes);
        Item program = new Item(
                new Entry(1, FilePath.of("program"), facts),
                new StoredCopy(FilePath.of("p/E1/data/program"), Digest.ofContent(content)));
        try (Restore restore = new Restore(
                (after, limit) -> after.isRoot() ? List.of(program) : List.of(),
                "p/E1",
                1,
                Selection.ALL,
                site,
                Path.of(arguments[8]),
                new Options(1, 0, false).withOwners())) {
            boolean complete = restore.run(finding -> System.out.println(finding.problem() + " " + finding.message()))
                    .complete();
            System.exit(complete ? 0 : 1);
        }
    }
}
