package dozo.command;

import dozo.Ended;
import dozo.db.ChildJava;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A copy in a process of its own at a terminal, with somebody who types. */
final class AtTerminal {

    /** Types a line, or Ctrl-C alone, when a program asks, the last one again and again; prints what it shows, and ends as it does. */
    private static final String TYPE = """
            import os, pty, sys
            end = sys.argv.index('--')
            lines = sys.argv[1:end]
            pid, terminal = pty.fork()
            if pid == 0:
                os.execvp(sys.argv[end + 1], sys.argv[end + 1:])
            shown = b''
            while True:
                try:
                    more = os.read(terminal, 4096)
                except OSError:
                    break
                if not more:
                    break
                shown += more
                if more.rstrip().endswith(b':'):
                    os.write(terminal, lines[0].encode() + (b'' if lines[0] == '\\u0003' else b'\\n'))
                    lines = lines[1:] or lines
            sys.stdout.write(shown.decode())
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            """;

    private AtTerminal() {}

    /** Copies, with this home folder. */
    static Ended copy(Path home, List<String> arguments, String... typed) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of("python3", "-c", TYPE));
        words.addAll(List.of(typed));
        words.add("--");
        words.addAll(ChildJava.of(CopyCommand.class)
                .options("-Duser.home=" + home)
                .arguments(arguments)
                .process()
                .command());
        return Ended.of(new ProcessBuilder(words));
    }
}
