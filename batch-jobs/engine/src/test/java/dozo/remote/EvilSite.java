package dozo.remote;

import dozo.loopback.LoopbackSite;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.server.Environment;
import org.apache.sshd.server.ExitCallback;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.channel.ChannelSession;
import org.apache.sshd.server.command.Command;
import org.apache.sshd.server.subsystem.SubsystemFactory;
import org.jspecify.annotations.Nullable;

/**
 * A site that does what no honest one does: it answers SFTP by a script, and its commands print what a program of the
 * test prints, for example without an end.
 */
public final class EvilSite implements AutoCloseable {

    /** More than is accepted, and little enough for a test that fails to end. */
    private static final int ENOUGH = 500;

    private final SshServer server;
    private final SiteAddress address;

    /** Answers every request after the greeting, or does not. */
    @FunctionalInterface
    public interface Script {
        void on(int type, int id, int bytes, DataOutputStream out) throws IOException;
    }

    /** Runs instead of each command of a shell. */
    @FunctionalInterface
    interface Program {
        /** @param mark begins the line that ends the output of a command */
        void run(String mark, OutputStream out, OutputStream errors) throws IOException;
    }

    /** Runs instead of a whole program with a channel of its own. */
    private interface Body {
        void run(InputStream in, OutputStream out, OutputStream errors) throws IOException;
    }

    private EvilSite(Path state, Script sftp, @Nullable Body commands, String... extensions) throws Exception {
        server = SshServer.setUpDefaultServer();
        server.setHost("127.0.0.1");
        server.setKeyPairProvider(KeyPairProvider.wrap(KeyUtils.generateKeyPair("ssh-ed25519", 256)));
        server.setPublickeyAuthenticator((user, key, session) -> true);
        server.setSubsystemFactories(List.of(new SubsystemFactory() {
            @Override
            public String getName() {
                return "sftp";
            }

            @Override
            public Command createSubsystem(ChannelSession channel) {
                return new Running((in, out, errors) -> answer(sftp, extensions, in, out));
            }
        }));
        if (commands != null) {
            server.setCommandFactory((channel, command) -> new Running(commands));
        }
        server.start();
        String hostKey = PublicKeyEntry.toString(
                server.getKeyPairProvider().loadKeys(null).iterator().next().getPublic());
        try (LoopbackSite keys = LoopbackSite.embedded(state, state.resolve("root"), 0)) {
            SiteAddress honest = keys.address();
            address = new SiteAddress(
                    honest.host(), server.getPort(), honest.user(), honest.root(), honest.identity(), hostKey);
        }
    }

    /** Starts a site that answers SFTP by this script, claims these extensions, and runs no commands. */
    public static EvilSite answering(Path state, Script script, String... extensions) throws Exception {
        return new EvilSite(state, script, null, extensions);
    }

    /** Starts a site where each command of a shell is this program. */
    static EvilSite printing(Path state, Program program) throws Exception {
        return new EvilSite(
                state,
                (type, id, bytes, out) -> status(out, id, 2),
                (in, out, errors) -> shell(program, in, out, errors));
    }

    /** Starts a site where each command with a channel of its own prints this, then zeros without an end. */
    static EvilSite feeding(Path state, byte[] beginning, AtomicLong printed) throws Exception {
        return new EvilSite(state, (type, id, bytes, out) -> status(out, id, 2), (in, out, errors) -> {
            out.write(beginning);
            withoutEnd(out, new byte[32 << 10], printed);
        });
    }

    /**
     * Answers a listing with these names, by the number of the answer, and with its end if there are none; to everything
     * else it says no. A name that ends with a slash is a folder.
     */
    public static Script listing(LongFunction<List<String>> names) {
        AtomicLong answers = new AtomicLong();
        return (type, id, bytes, out) -> {
            List<String> next = type == Packet.READDIR ? names.apply(answers.incrementAndGet()) : List.of();
            if (type == Packet.OPENDIR) {
                handle(out, id, 4);
            } else if (type == Packet.READDIR && !next.isEmpty()) {
                names(out, id, next);
            } else if (type == Packet.READDIR) {
                status(out, id, Reply.END_OF_FILE);
            } else {
                status(out, id, 4);
            }
        };
    }

    /** Returns names without an end, as far as any test can tell. */
    public static List<String> thousandNames(long answer) {
        return answer > ENOUGH
                ? List.of()
                : IntStream.range(0, 1_000)
                        .mapToObj(i -> "name-%d-%d".formatted(answer, i))
                        .toList();
    }

    /** Returns folders without an end, as far as any test can tell. */
    public static List<String> thousandFolders(long answer) {
        return thousandNames(answer).stream().map(name -> name + "/").toList();
    }

    public SiteAddress address() {
        return address;
    }

    SshServer server() {
        return server;
    }

    @Override
    public void close() throws IOException {
        server.stop(true);
    }

    static void withoutEnd(OutputStream out, byte[] what, AtomicLong printed) throws IOException {
        while (true) {
            out.write(what);
            out.flush();
            printed.addAndGet(what.length);
        }
    }

    static void status(DataOutputStream out, int id, int code) throws IOException {
        out.writeInt(17);
        out.writeByte(Packet.STATUS);
        out.writeInt(id);
        out.writeInt(code);
        out.writeInt(0);
        out.writeInt(0);
    }

    static void handle(DataOutputStream out, int id, int bytes) throws IOException {
        out.writeInt(9 + bytes);
        out.writeByte(Packet.HANDLE);
        out.writeInt(id);
        out.writeInt(bytes);
        out.write(new byte[bytes]);
    }

    /** Writes an answer with these names; those of folders end with a slash. */
    static void names(DataOutputStream out, int id, List<String> names) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        DataOutputStream each = new DataOutputStream(body);
        for (String shown : names) {
            boolean folder = shown.length() > 1 && shown.endsWith("/");
            byte[] name = shown.substring(0, shown.length() - (folder ? 1 : 0)).getBytes(StandardCharsets.US_ASCII);
            each.writeInt(name.length);
            each.write(name);
            each.writeInt(0);
            each.writeInt(Packet.HAS_MODE);
            each.writeInt(folder ? 0040755 : 0100644);
        }
        out.writeInt(9 + body.size());
        out.writeByte(Packet.NAME);
        out.writeInt(id);
        out.writeInt(names.size());
        body.writeTo(out);
    }

    /** Announces version 3 with these extensions, and then answers by the script. */
    private static void answer(Script script, String[] extensions, InputStream in, OutputStream out)
            throws IOException {
        DataInputStream requests = new DataInputStream(in);
        DataOutputStream answers = new DataOutputStream(out);
        requests.skipNBytes(requests.readInt());
        answers.writeInt(
                5 + Stream.of(extensions).mapToInt(name -> 8 + name.length()).sum());
        answers.writeByte(Packet.VERSION);
        answers.writeInt(3);
        for (String name : extensions) {
            answers.writeInt(name.length());
            answers.writeBytes(name);
            answers.writeInt(0);
        }
        answers.flush();
        while (true) {
            int length = requests.readInt();
            int type = requests.readByte();
            int id = requests.readInt();
            requests.skipNBytes(length - 5);
            script.on(type, id, length, answers);
            answers.flush();
        }
    }

    /** Does what {@link Shell#LOOP} does, except that each command is the program. */
    private static void shell(Program program, InputStream in, OutputStream out, OutputStream errors)
            throws IOException {
        DataInputStream commands = new DataInputStream(in);
        String mark = line(commands);
        byte[] ready = ("\n" + mark + " 0\n").getBytes(StandardCharsets.US_ASCII);
        out.write(ready);
        out.flush();
        errors.write(ready);
        errors.flush();
        while (true) {
            int bytes = Integer.parseInt(line(commands));
            line(commands);
            commands.skipNBytes(bytes);
            program.run(mark, out, errors);
            out.flush();
            errors.flush();
        }
    }

    private static String line(DataInputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int b = in.readUnsignedByte(); b != '\n'; b = in.readUnsignedByte()) {
            line.append((char) b);
        }
        return line.toString();
    }

    private static final class Running implements Command {

        private final Body body;
        private InputStream in = InputStream.nullInputStream();
        private OutputStream out = OutputStream.nullOutputStream();
        private OutputStream errors = OutputStream.nullOutputStream();

        Running(Body body) {
            this.body = body;
        }

        @Override
        public void setInputStream(InputStream in) {
            this.in = in;
        }

        @Override
        public void setOutputStream(OutputStream out) {
            this.out = out;
        }

        @Override
        public void setErrorStream(OutputStream err) {
            this.errors = err;
        }

        @Override
        public void setExitCallback(ExitCallback callback) {}

        @Override
        public void start(ChannelSession channel, Environment environment) {
            Thread.ofVirtual().start(() -> {
                try (InputStream read = in;
                        OutputStream print = out;
                        OutputStream complain = errors) {
                    body.run(read, print, complain);
                } catch (IOException gone) {
                    // The client has closed the connection.
                }
            });
        }

        @Override
        public void destroy(ChannelSession channel) {}
    }
}
