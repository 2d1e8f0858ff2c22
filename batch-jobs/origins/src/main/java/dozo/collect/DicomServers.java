package dozo.collect;

import dozo.collect.Origins.Origin;
import dozo.file.Malformed;
import dozo.registry.GivenPaths;
import dozo.registry.Refusal;
import dozo.source.delivery.Server;
import java.io.IOException;
import java.nio.file.Path;

/** The servers of origins of the kind {@link OriginKind#DICOMWEB}. */
public final class DicomServers {

    private DicomServers() {}

    /**
     * Returns an origin's server.
     *
     * @throws Refusal if the origin is of another kind, or its login cannot be read
     */
    public static Server of(Origin origin) {
        if (origin.terms().kind() != OriginKind.DICOMWEB) {
            throw new Refusal(
                    "origin",
                    "origin %s is not of the kind dicomweb, flywheel or xnat; choose another one",
                    origin.name());
        }
        return of(origin.terms());
    }

    static Server of(Terms terms) {
        Path login = terms.secretFile();
        try {
            return login == null
                    ? Server.at(terms.address().toString())
                    : Server.at(terms.address().toString(), login);
        } catch (IOException e) {
            throw new Refusal("secretFile", "the login file %s cannot be read", GivenPaths.shown(login));
        } catch (Malformed e) {
            throw new Refusal("address", e.message());
        }
    }
}
