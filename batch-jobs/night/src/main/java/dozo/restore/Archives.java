package dozo.restore;

import dozo.copy.ManifestPart;
import dozo.copy.ProvenRead;

/** The archives, Flywheels and XNATs that restores can send files to. The module of origins knows them. */
public interface Archives {

    /**
     * Checks that there is an archive with this name.
     *
     * @throws dozo.registry.Refusal if there is none
     */
    void check(String name);

    /**
     * Creates a restore into an archive, without a request to it. If it cannot be used, running the restore fails.
     *
     * @param archive its name, and whether instances with other bytes are replaced there
     * @param part what is restored
     * @param site where the copies are; the restore closes it
     */
    ArchiveRestore restore(Target.Archive archive, ManifestPart part, ProvenRead site);
}
