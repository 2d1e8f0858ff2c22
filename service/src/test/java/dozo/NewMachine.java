package dozo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.db.Program;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A new machine with root's shell, for tests that do what the documentation says: this machine in namespaces, with a layer over all
 * its files and a network of its own, so nothing here is changed. Needs root on Linux.
 *
 * <p>Two things are not as on a real machine. The package has the real launcher, installer and units, and in the place of
 * its Java and its jars links to those of the tests, without caches, which take a minute to make. And {@code systemctl} is a
 * script that starts and stops the service as its unit says, because systemd cannot run here.
 */
final class NewMachine implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofMinutes(10);

    private static final String VERSION = "0-test";

    /** Takes a folder for the layers, the package, and the folders with the tests' Java and class path. */
    private static final String START = """
            set -eu
            layers=$1 package=$2
            shift 2
            mount -t tmpfs tmpfs "$layers"
            mkdir "$layers"/{new,work,root}
            mount -t overlay overlay -o "lowerdir=/,upperdir=$layers/new,workdir=$layers/work" "$layers/root"
            cd "$layers/root"
            for each in "$@"; do
                # It is on another file system than the layers.
                [[ -n $(ls -A ".$each" 2> /dev/null) ]] || {
                    mkdir -p ".$each"
                    mount --bind "$each" ".$each"
                    mount -o remount,bind,ro ".$each"
                }
                # The service's user has to get there.
                while [[ $each != / ]]; do
                    each=$(dirname "$each")
                    chmod o+x ".$each"
                done
            done
            mount --rbind /dev dev
            mount -t proc proc proc
            mount -t tmpfs tmpfs run
            mkdir run/sshd
            mkdir -p ".${package%/*}"
            mount --bind "${package%/*}" ".${package%/*}"
            ip link set lo up
            cat > usr/local/bin/systemctl << 'SYSTEMCTL'
            #!/bin/bash
            of() { cat /usr/lib/systemd/system/dozo.service /etc/systemd/system/dozo.service.d/* 2> /dev/null | sed -n "s/^$1=//p" | tail -n 1; }
            case $* in
                --version) exec /usr/bin/systemctl --version ;;
                'enable --now dozo' | 'start dozo')
                    install -d -o dozo -g dozo /var/cache/dozo
                    cd "$(of WorkingDirectory)"
                    may=$(of AmbientCapabilities)
                    may=${may:++${may#CAP_}}
                    env $(of Environment) setpriv --reuid "$(of User)" --regid "$(of Group)" --clear-groups \\
                        ${may:+--inh-caps "${may,,}" --ambient-caps "${may,,}"} $(of ExecStart) > /var/log/dozo.log 2>&1 < /dev/null &
                    echo $! > /run/dozo.pid
                    until curl -sf -o /dev/null http://127.0.0.1:8080/actuator/health; do
                        kill -0 $! 2> /dev/null || { cat /var/log/dozo.log && exit 1; }
                        sleep 0.2
                    done
                    ;;
                'stop dozo')
                    kill "$(< /run/dozo.pid)"
                    while kill -0 "$(< /run/dozo.pid)" 2> /dev/null; do sleep 0.1; done
                    ;;
                *) echo "systemctl: expected --version, enable --now dozo, start dozo or stop dozo, found $*" && exit 1 ;;
            esac
            SYSTEMCTL
            chmod 755 usr/local/bin/systemctl
            mkdir -m 700 root/recovery
            ln -s "$package" root/recovery
            exec chroot . bash -c '
                cd /root/recovery
                while read -r script; do
                    . "$script" > "$script.out" 2>&1 < /dev/null
                    echo $? > "$script.code" && mv "$script.code" "$script.ended"
                done'
            """;

    private final Path folder;
    private final Process shell;
    private final OutputStream orders;
    private int count;

    private NewMachine(Path folder, Process shell) {
        this.folder = folder;
        this.shell = shell;
        this.orders = shell.getOutputStream();
    }

    /**
     * Starts a machine on which nothing is installed. Root's folder has the package.
     *
     * @param folder a new folder for it
     */
    static NewMachine start(Path folder) throws IOException, InterruptedException {
        Path layers = Files.createDirectories(folder.resolve("layers"));
        Path start = Files.writeString(folder.resolve("start"), START);
        Path shared = Files.createDirectory(folder.resolve("shared"));
        List<String> command =
                new ArrayList<>(List.of("unshare", "-mnp", "--fork", "--kill-child", "bash", start.toString()));
        command.add(layers.toString());
        command.add(pack(folder, shared).toString());
        command.addAll(needed());
        ProcessBuilder shell = new ProcessBuilder(command);
        shell.environment().clear();
        shell.environment().put("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        shell.environment().put("HOME", "/root");
        shell.environment().put("LANG", "C.UTF-8");
        // As in all tests: no work by the clock, and no optimising of what runs once.
        shell.environment().put("DOZO_SCHEDULE_CRON", "-");
        shell.environment().put("DOZO_DRILL_CRON", "-");
        shell.environment().put("DOZO_SCRUB_WINDOW", "-");
        shell.environment().put("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
        Path log = folder.resolve("shell.log");
        return new NewMachine(
                shared,
                shell.redirectErrorStream(true).redirectOutput(log.toFile()).start());
    }

    private static Set<String> needed() {
        Set<String> all = new TreeSet<>(Set.of(System.getProperty("java.home")));
        for (String each : System.getProperty("java.class.path").split(":")) {
            Path entry = Path.of(each).toAbsolutePath().normalize();
            if (Files.exists(entry)) {
                Path kept = Files.isDirectory(entry) ? entry : entry.getParent();
                all.add(kept.toString().replaceFirst("(/repository)/.*", "$1"));
            }
        }
        return all;
    }

    private static Path pack(Path folder, Path shared) throws IOException, InterruptedException {
        String name = "dozo-%s-linux-test".formatted(VERSION);
        Path stage = folder.resolve(name);
        Path app = Files.createDirectories(stage.resolve("app"));
        Path share = Files.createDirectory(stage.resolve("share"));
        Program.succeed("cp", "-R", "src/main/package/.", "../dozo", stage.toString());
        Files.createSymbolicLink(stage.resolve("runtime"), Path.of(System.getProperty("java.home")));
        Files.createSymbolicLink(app.resolve("top"), Path.of("/"));
        Files.writeString(
                app.resolve("service.path"),
                Stream.of(System.getProperty("java.class.path").split(":"))
                        .map(each -> "top" + Path.of(each).toAbsolutePath().normalize())
                        .collect(Collectors.joining(":", "", "\n")));
        Files.writeString(app.resolve("rehearsed"), "/opt/dozo/releases/%s/app\n".formatted(VERSION));
        Files.writeString(stage.resolve("version"), VERSION + "\n");
        Files.writeString(share.resolve("dozo.7"), Ended.of("man").ends(0).out());
        Files.writeString(
                share.resolve("completion.bash"),
                Ended.of("completion", "bash").ends(0).out());
        Files.writeString(
                share.resolve("completion.fish"),
                Ended.of("completion", "fish").ends(0).out());
        Files.writeString(
                share.resolve("dozo.env"),
                Ended.of("settings", "--example").ends(0).out());
        Path packed = shared.resolve(name + ".tar.gz");
        Program.succeed("tar", "-C", folder.toString(), "-czf", packed.toString(), name);
        return packed;
    }

    /** Has root's shell run these lines to their end. It is one shell: what a line sets holds for later ones. */
    Ended run(String lines) throws IOException {
        Path script = Files.writeString(folder.resolve("script" + ++count), lines + "\n");
        Path ended = folder.resolve(script.getFileName() + ".ended");
        orders.write((script + "\n").getBytes(StandardCharsets.UTF_8));
        orders.flush();
        await().atMost(LIMIT).until(() -> Files.exists(ended) || !shell.isAlive());
        assertThat(shell.isAlive()).as("the machine is running").isTrue();
        return new Ended(
                Integer.parseInt(Files.readString(ended).strip()),
                Files.readString(folder.resolve(script.getFileName() + ".out"), StandardCharsets.ISO_8859_1),
                "");
    }

    /** Ends the machine with all that runs on it. */
    @Override
    public void close() throws InterruptedException {
        shell.destroyForcibly();
        shell.waitFor();
    }
}
