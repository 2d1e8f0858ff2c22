package dozo.run;

import dozo.db.Program;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** The Library of Congress's bag validator, from PyPI, in its own Python environment below the build's folder. */
final class Bagit {

    private static final String RELEASE = "1.9.0";

    /** Copies a folder as it appears if names are IBM437: each byte becomes its character, in UTF-8. */
    private static final String COPY_AS_IBM437 = """
            import os, shutil, sys
            def copy(above, below):
                os.mkdir(below)
                for name in os.listdir(above):
                    one, other = os.path.join(above, name), os.path.join(below, name.decode('ibm437').encode())
                    copy(one, other) if os.path.isdir(one) else shutil.copyfile(one, other)
            copy(*map(os.fsencode, sys.argv[1:]))
            """;

    private Bagit() {}

    /** Validates a bag with UTF-8 names. */
    static Program validate(Path bag) throws IOException, InterruptedException {
        return python("-m", "bagit", "--validate", "--quiet", bag.toString());
    }

    /** Validates a bag with IBM437 names; {@code work} is a folder that does not exist yet. */
    static Program validateAsIbm437(Path bag, Path work) throws IOException, InterruptedException {
        python("-c", COPY_AS_IBM437, bag.toString(), work.toString()).succeeded();
        return validate(work);
    }

    static void assertValid(Path bag) throws IOException, InterruptedException {
        validate(bag).succeeded();
    }

    private static Program python(String... arguments) throws IOException, InterruptedException {
        return Program.python("bagit-" + RELEASE, Map.of(), "--no-deps bagit==" + RELEASE, arguments);
    }
}
