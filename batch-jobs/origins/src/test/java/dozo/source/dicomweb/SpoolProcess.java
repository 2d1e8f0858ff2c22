package dozo.source.dicomweb;

import dozo.remote.ChildProcess;
import dozo.source.delivery.Limits;
import dozo.source.delivery.Server;
import dozo.source.dicom.PseudonymousCode;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;

/** Delivers a study in a process that can be killed. */
final class SpoolProcess {

    private SpoolProcess() {}

    static void main(String[] all) throws Exception {
        String[] arguments = ChildProcess.arguments(all);
        Limits patient = new Limits(
                Duration.ofSeconds(5),
                Duration.ofMinutes(5),
                Duration.ofMinutes(5),
                1,
                Duration.ofMillis(1),
                Duration.ofHours(24));
        try (Orthanc orthanc = new Orthanc(Server.at(arguments[0]), patient, wait -> {}, InstantSource.system())) {
            new Spool(orthanc, new PseudonymousCode(new byte[32]), Path.of(arguments[2]), 3).deliver(arguments[1]);
        }
    }
}
