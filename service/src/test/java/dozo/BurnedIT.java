package dozo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariDataSource;
import dozo.copy.Trees;
import dozo.db.Program;
import dozo.db.TestDatabase;
import dozo.loopback.LoopbackSite;
import dozo.people.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A machine follows "The building burned" word by word, with nothing but the DR site and the paper: it reads the page, runs its
 * commands in their order, and fills in only what somebody wrote on it. A command that it does not know fails the test.
 */
class BurnedIT {

    private static final String PAGE = "burned.md";

    /** A block, or what is between backquotes: a command if it has arguments and is no option. */
    private static final Pattern CODE = Pattern.compile("(?s)```sh\n(.*?)```|`([^`\n]+)`");

    private static final Pattern OPTION = Pattern.compile("`(--[^`\n]+)`");

    /** The DR site as it is on the paper. */
    private static final String LOGIN = "mri@dr.kyoto.example";

    private static final String ROOT = "/volume1/dozo";
    private static final String VISIT = "P1/E7";
    private static final String SECOND = "P1/E8";
    private static final String CODED = "P2/C1";

    @TempDir
    static Path folder;

    /** Its files and its host key are all that is left. */
    private static Path site;

    private static Path siteKey;
    private static Paper paper;

    /** How everything was before the fire: the source of each experiment, its files, and the ledger. */
    private static final Map<String, Path> SOURCES = new LinkedHashMap<>();

    private static final Map<String, String> FILES = new HashMap<>();
    private static String ledger;

    /** What is on it beside the print. */
    private record Paper(String hostKey, String recoveryKey, String fingerprint) {

        String on(String command) {
            String filled = command.replace("dr@dr.example.org", LOGIN)
                    .replace("/srv/dozo", ROOT)
                    .replace("ssh-ed25519 AAAA…", hostKey)
                    .replace("FINGERPRINT", fingerprint);
            assertThat(filled).doesNotContain("…", "example.org");
            return filled;
        }

        String on(String command, String experiment) {
            String[] codes = experiment.split("/");
            return on(command)
                    .replace("E7", codes[1])
                    .replace("P1", codes[0])
                    .replace("/old/" + codes[1], SOURCES.get(experiment).toString());
        }
    }

    /** The commands of the page that were not taken yet. Blocks end with a newline. */
    private record Commands(List<String> left) {

        static Commands of(String page) throws IOException {
            return new Commands(CODE.matcher(text(page))
                    .results()
                    .map(found -> found.group(1) == null ? found.group(2) : found.group(1))
                    .filter(code -> code.contains(" ") && !code.startsWith("-"))
                    .collect(Collectors.toCollection(ArrayList::new)));
        }

        /** Takes the one command that begins with these words; a block only if it is the next one. */
        String take(String begins) {
            List<String> found =
                    left.stream().filter(each -> each.startsWith(begins)).toList();
            assertThat(found).as("\"%s\" in %s", begins, left).hasSize(1);
            String command = found.getFirst();
            if (command.endsWith("\n")) {
                assertThat(left.stream().filter(each -> each.endsWith("\n")).findFirst())
                        .hasValue(command);
            }
            left.remove(command);
            return command;
        }

        void leave(Set<String> begin, String why) {
            begin.forEach(each -> assertThat(take(each)).as(why).isNotEmpty());
        }

        void assertAllTaken() {
            assertThat(left).as("commands that this test does not know").isEmpty();
        }
    }

    private static String text(String page) throws IOException {
        return Files.readString(Path.of("..", "docs", page));
    }

    private static List<String> found(Pattern pattern) throws IOException {
        return pattern.matcher(text(PAGE))
                .results()
                .map(found -> found.group(1))
                .toList();
    }

    @BeforeAll
    static void fire() throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"), "makes namespaces, which only root may");
        site = Files.createDirectory(folder.resolve("dr"));
        Path old = Files.createDirectory(folder.resolve("old"));
        SOURCES.put(VISIT, old.resolve("visit"));
        SOURCES.put(SECOND, old.resolve("second"));
        SOURCES.put(CODED, old.resolve("named"));
        Program.succeed("bash", "-ec", """
                mkdir -p "$0"/{visit/脳/empty,second,named/sub-YamadaTaro}
                cd "$0/visit"
                head -c 300000 /dev/urandom > 脳/scan.dat
                echo 'Shift-JIS' > "$(printf '\\203\\\\\\203C.txt')"
                echo 'two lines' > $'first\\nsecond line'
                touch zero && ln zero other-name && ln -s 脳/scan.dat link && ln -s /nowhere dangling
                echo 'first content' > changed && echo gone > gone && echo private > private
                chown 4711:4712 private 脳 && chmod 640 private && chmod 2750 脳
                for each in damaged missing unreadable whole; do echo "$each" > ../second/$each; done
                echo Yamada > ../named/sub-YamadaTaro/YamadaTaro_T1w.nii
                find .. -mindepth 1 -exec touch -hd '2026-05-04 03:02:01' {} +
                """, old.toString());
        Path work = old.resolve("work");
        TestDatabase.unpacked(work.resolve("postgres"));
        HikariDataSource embedded = new HikariDataSource();
        embedded.setJdbcUrl("");
        embedded.setUsername("");
        embedded.setPassword("");
        try (LoopbackSite server = LoopbackSite.openSsh(folder.resolve("sshd"), site, 0);
                RunningService service = RunningService.start(work, embedded, Map.of())) {
            service.saveSite("dr", server.address());
            Ended.dozo(service, "project add --site-names codes P2").ends(0);
            service.createProject("P1");
            service.createUser("lab", Role.LAB_MANAGER, "P1");
            for (Map.Entry<String, Path> source : SOURCES.entrySet()) {
                String[] codes = source.getKey().split("/");
                service.createExperiment(codes[0], codes[1], source.getValue());
            }
            service.backUp();
            Files.writeString(SOURCES.get(VISIT).resolve("changed"), "second content");
            Files.delete(SOURCES.get(VISIT).resolve("gone"));
            service.backUp();
            paper = written(service, server.address().hostKey().strip());
            ledger = Ended.dozo(service, "ledger list").ends(0).out();
        }
        for (Map.Entry<String, Path> source : SOURCES.entrySet()) {
            FILES.put(source.getKey(), Program.succeed("bash", "-ec", listing(source.getValue())));
        }
        siteKey = Files.copy(folder.resolve("sshd/host"), folder.resolve("host"));
        Trees.delete(folder.resolve("sshd"));
        Trees.delete(old);
        assertThat(old).doesNotExist();
    }

    /** Writes on the paper what the page wants there, by its own commands. */
    private static Paper written(RunningService service, String hostKey) throws IOException {
        Commands page = Commands.of(PAGE);
        assertThat(dozo(service, page.take("dozo site show "))).contains("host key " + hostKey);
        String file = page.take("cat /var/lib/dozo/").replace("cat /var/lib/dozo/", "");
        String recoveryKey = Files.readString(service.work().resolve(file));
        assertThat(recoveryKey.lines()).hasSize(2);
        Matcher fingerprint = Pattern.compile("SHA-256 ([0-9a-f]{64})").matcher(dozo(service, page.take("dozo cert")));
        assertThat(fingerprint.find()).isTrue();
        return new Paper(hostKey, recoveryKey, fingerprint.group(1));
    }

    private static String dozo(RunningService service, String command) {
        return Ended.dozo(service, command.replaceFirst("^dozo ", "")).ends(0).out();
    }

    /** Returns what lists all that a restore brings back: names, kinds, modes, owners, times, links, digests. */
    private static String listing(Path top) {
        return """
                cd '%s'
                LC_ALL=C TZ=UTC find . -mindepth 1 -printf '%%P %%y %%n %%m %%U:%%G %%TY-%%Tm-%%Td %%TT %%l\\0' | sort -z | tr '\\0' '\\n'
                find . -type f -print0 | sort -z | xargs -0 sha256sum
                """.formatted(top);
    }

    @Test
    void withThePaperEverythingComesBack() throws Exception {
        Commands page = Commands.of(PAGE);
        page.leave(Set.of("dozo site show ", "cat /var/lib/dozo/", "dozo certificate-key"), "they ran before the fire");
        assertThat(found(Pattern.compile("(?m)^\\| (\\d+) \\|")))
                .as("exit codes that these tests see")
                .containsExactly("0", "1", "3", "69");
        page.leave(Set.of("dozo register ", "rm -r ", "systemctl stop ", "sftp "), "the other test runs them");
        try (NewMachine machine = machine("with")) {
            assertThat(machine.run(page.take("tar ")).out()).contains("Installed Dozo");
            String typed = page.take("install ");
            String rebuild = page.take("dozo rebuild-catalogue ");
            machine.run(typed + mistyped(paper.recoveryKey()) + "END").ends(0);
            assertThat(machine.run(page.take("cat /etc/ssh/")).ends(0).out()).startsWith(paper.hostKey());

            Paper wrong = new Paper(anotherHostKey(), paper.recoveryKey(), "0".repeat(64));
            assertThat(machine.run(wrong.on(rebuild)).ends(69).out()).contains("host key");
            addKey(machine, machine.run(paper.on(rebuild)).ends(69).out());
            assertThat(machine.run(paper.on(rebuild)).ends(3).out()).contains("identity");
            machine.run(typed + paper.recoveryKey() + "END").ends(0);
            assertThat(machine.run(paper.on(rebuild).replace(paper.fingerprint(), wrong.fingerprint()))
                            .ends(3)
                            .out())
                    .contains("is signed with another key: " + paper.fingerprint());
            assertThat(machine.run(paper.on(rebuild)).ends(0).out()).contains("everything is verified");

            edit(machine, page);
            assertThat(machine.run(page.take("systemctl enable ")).ends(0).out())
                    .contains("open findings: 0");
            String experiments =
                    machine.run(page.take("dozo experiments")).ends(0).out();
            String restore = page.take("mkdir -p /data");
            String move = page.take("dozo source move ");
            for (Map.Entry<String, Path> source : SOURCES.entrySet()) {
                String experiment = source.getKey();
                assertThat(experiments).contains(experiment, source.getValue().toString());
                machine.run(paper.on(restore, experiment)).ends(0);
                assertThat(restored(machine, experiment)).isEqualTo(FILES.get(experiment));
                machine.run(paper.on(move, experiment)).ends(0);
            }

            List<String> rows = ledger.lines().toList();
            int end = (int) rows.stream()
                    .takeWhile(row -> !row.equals(lastWith("run.ended", rows)))
                    .count();
            assertThat(machine.run("TZ=%s dozo ledger list".formatted(ZoneId.systemDefault()))
                            .ends(0)
                            .out()
                            .lines())
                    .as("all until the last night wrote its records")
                    .containsSequence(rows.subList(0, end));
            machine.run("dozo ledger verify").ends(0);
            assertThat(machine.run("dozo coverage").ends(0).out()).contains("All 3 experiments are safe");
            assertThat(machine.run("dozo user list").ends(0).out()).contains("lab");
            assertThat(machine.run("dozo run --wait").ends(0).out()).contains("nothing to send");

            withoutDozo(machine, page.take("mkdir E7 "));
        }
        page.assertAllTaken();
    }

    /** Writes what the page says into the file of {@code systemctl edit dozo}, which opens an editor. */
    private static void edit(NewMachine machine, Commands page) throws IOException {
        page.leave(Set.of("systemctl edit dozo"), "it opens an editor");
        String lines = CODE.matcher(text(PAGE))
                .results()
                .map(found -> String.valueOf(found.group(2)))
                .filter(code -> code.startsWith("[Service]") || code.contains("=CAP_"))
                .collect(Collectors.joining("\n"));
        assertThat(lines.lines()).hasSize(3);
        machine.run("""
                mkdir -p /etc/systemd/system/dozo.service.d
                cat > /etc/systemd/system/dozo.service.d/override.conf << 'END'
                %s
                END""".formatted(lines)).ends(0);
    }

    private static String lastWith(String action, List<String> rows) {
        return rows.stream().filter(row -> row.contains(action)).toList().getLast();
    }

    /** Runs the block for people without Dozo, for each experiment. */
    private static void withoutDozo(NewMachine machine, String block) throws IOException {
        ownLogin(machine);
        for (String experiment : SOURCES.keySet()) {
            assertThat(machine.run("cd /root/recovery\n" + paper.on(block, experiment))
                            .ends(0)
                            .out())
                    .contains("all as listed");
        }
        assertThat(machine.run("cd /root/recovery/E7/data && cat gone changed")
                        .ends(0)
                        .out())
                .isEqualTo("gone\nsecond content");
        assertThat(machine.run("ls /root/recovery/C1/data").out()).matches("[0-9a-f]{32}\n");
        assertThat(text(PAGE)).contains("`/srv/dozo/.dozo/versions/P1/E7`");
        assertThat(machine.run("cat %s/.dozo/versions/P1/E7/2/data/changed".formatted(ROOT))
                        .out())
                .isEqualTo("first content\n");
    }

    @Test
    void withoutThePaperFilesAndNamesComeBack() throws Exception {
        Commands page = Commands.of(PAGE);
        page.leave(Set.of("dozo site show ", "cat /var/lib/dozo/", "dozo certificate-key"), "they ran before the fire");
        page.leave(Set.of("dozo source move ", "cat /etc/ssh/"), "the other test runs them");
        try (NewMachine machine = machine("without")) {
            machine.run("""
                    cd %s/P1/E8/data && echo DAMAGED > damaged && touch -d '2026-05-04 03:02:01' damaged && rm missing
                    chmod 0 unreadable && mkdir -p %1$s/P1/notOurs/data; cd
                    """.formatted(ROOT)).ends(0);
            assertThat(machine.run("cd /root/recovery\n" + page.take("tar ")).out())
                    .contains("Installed Dozo");
            page.leave(Set.of("install "), "nobody has the key");
            String withPaper = paper.on(page.take("dozo rebuild-catalogue ")).replace(" dr ", " --port 2222 dr ");
            String rebuild = withPaper.replaceAll("--(recovery-key|signed-by) \\S+", "");
            String listsOnly = rebuild.replace(" dr ", " --lists-only dr ");
            assertThat(found(OPTION)).containsOnly("--recovery-key …", "--signed-by …", "--port 2222", "--lists-only");
            addKey(machine, machine.run(listsOnly).ends(69).out());

            assertThat(machine.run(listsOnly).ends(1).out()).contains("nothing is verified yet");
            edit(machine, page);
            String start = page.take("systemctl enable ");
            String restore = page.take("mkdir -p /data");
            machine.run(start);
            machine.run(page.take("dozo experiments")).ends(0);
            assertThat(machine.run(paper.on(restore, VISIT)).ends(1).out())
                    .contains("the owners of 12 entries were never recorded", "12 verified, 0 not");
            assertThat(asInBags(restored(machine, VISIT)))
                    .contains(asInBags(FILES.get(VISIT)).split("\n"));
            String stop = page.take("systemctl stop ");
            machine.run(stop).ends(0);

            machine.run("""
                    install -o dozo -g dozo -m 600 /dev/stdin /var/lib/dozo/recovery-key << END
                    %sEND""".formatted(paper.recoveryKey())).ends(0);
            assertThat(machine.run(withPaper).ends(3).out())
                    .as("somebody finds the paper")
                    .contains("began without a recovery key", "an empty database");
            machine.run(page.take("rm -r ")).ends(0);

            machine.run(rebuild).ends(1);
            assertThat(machine.run(start).ends(1).out())
                    .contains(found(Pattern.compile("`([A-Z_]{7,})`")))
                    .contains("P1/notOurs");
            machine.run(stop + "\nchmod 600 %s/P1/E8/data/unreadable".formatted(ROOT));
            machine.run(rebuild);
            assertThat(machine.run(start).ends(1).out())
                    .contains("MISSING", "DAMAGED")
                    .doesNotContain("UNPROVEN");

            machine.run(paper.on(page.take("dozo register "), VISIT)).ends(0);
            assertThat(machine.run("dozo run --wait").out())
                    .as("only of the other experiments there is something to say")
                    .contains("P1/E8", "P2/C1")
                    .doesNotContain("P1/E7");
            assertThat(machine.run("dozo coverage").out()).containsPattern("P1/E7 +yes");

            page.leave(Set.of("mkdir E7 "), "the other test runs it");
            ownLogin(machine);
            machine.run("cd && " + paper.on(page.take("sftp "), VISIT));
            assertThat(machine.run("cd E7 && sha256sum -c --quiet sha256sums.txt")
                            .out()
                            .lines()
                            .filter(line -> line.contains(": FAILED")))
                    .as("symbolic links are left out, and nothing else")
                    .containsExactly("data/link: FAILED open or read");
        }
        page.assertAllTaken();
    }

    @Test
    void theJapanesePageHasTheSameCommandsInTheSameOrder() throws Exception {
        assertThat(Commands.of("burned.ja.md")).isEqualTo(Commands.of(PAGE));
    }

    /** Starts a machine and the DR site, where nobody has access yet. */
    private static NewMachine machine(String name) throws IOException, InterruptedException {
        NewMachine machine = NewMachine.start(Files.createDirectory(folder.resolve(name)));
        machine.run("""
                set -e
                echo 'mri:x:2001:2001::/home/mri:/bin/bash' >> /etc/passwd
                echo 'mri:x:2001:' >> /etc/group
                echo 'mri:*:20000::::::' >> /etc/shadow
                install -d -o mri -g mri -m 700 /home/mri /home/mri/.ssh
                install -o mri -g mri -m 600 /dev/null /home/mri/.ssh/authorized_keys
                mkdir -p %1$s
                cp -a %2$s/. %1$s
                chown -hR mri:mri %1$s
                rm -f /etc/ssh/ssh_host_*
                install -m 600 %3$s /etc/ssh/ssh_host_ed25519_key
                ssh-keygen -y -f %3$s > /etc/ssh/ssh_host_ed25519_key.pub
                printf '%%s\\n' 'Port 22' 'Port 2222' 'UsePAM no' 'HostKey /etc/ssh/ssh_host_ed25519_key' \\
                    'Subsystem sftp internal-sftp' > /etc/ssh/sshd_config
                /usr/sbin/sshd
                echo '127.0.0.1 %4$s' >> /etc/hosts
                rm -rf /root/.ssh
                set +e
                """.formatted(ROOT, site, siteKey, LOGIN.replaceFirst(".*@", "")))
                .ends(0);
        return machine;
    }

    /** Does what the page lets the site's administrators do with the line that was printed. */
    private static void addKey(NewMachine machine, String printed) throws IOException {
        assertThat(printed).contains("authorized_keys");
        String line = printed.lines()
                .filter(each -> each.startsWith("ssh-ed25519 "))
                .findFirst()
                .orElseThrow();
        machine.run("echo '%s' >> /home/mri/.ssh/authorized_keys".formatted(line))
                .ends(0);
    }

    /** Gives root a login at the site, and the host key that is on the paper. */
    private static void ownLogin(NewMachine machine) throws IOException {
        machine.run("""
                mkdir -m 700 /root/.ssh && ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
                echo '%s %s' > /root/.ssh/known_hosts
                cat /root/.ssh/id_ed25519.pub >> /home/mri/.ssh/authorized_keys
                """.formatted(LOGIN.replaceFirst(".*@", ""), paper.hostKey()))
                .ends(0);
    }

    private static String restored(NewMachine machine, String experiment) throws IOException {
        Path target = Path.of("/data").resolve(experiment.replaceFirst(".*/", ""));
        return machine.run("(" + listing(target) + ")").ends(0).out();
    }

    /** Leaves out of a listing what bags do not have: hard links, owners, setgid, parts of seconds, times of links. */
    private static String asInBags(String listing) {
        return listing.replaceAll(
                        "(?m) ([fdl]) [0-9]+ [0-7]?([0-7]{3}) [0-9:]+ ([0-9-]+ [0-9:]+)[0-9.]* ", " $1 $2 $3 ")
                .replaceAll(" l 777 [0-9-]+ [0-9:]+ ", " l 777 ");
    }

    private static String mistyped(String key) {
        String last = key.strip().endsWith("Q") ? "P" : "Q";
        return key.strip().replaceFirst(".$", last) + "\n";
    }

    private static String anotherHostKey() throws Exception {
        Path key = folder.resolve("another");
        Program.succeed("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key.toString());
        return Files.readString(Path.of(key + ".pub")).strip();
    }
}
