/** Sends restored DICOM instances back into the archives that experiments are collected from. */
@NullMarked
@ApplicationModule(
        allowedDependencies = {
            "collect",
            "copy",
            "file",
            "registry",
            "remote",
            "restore",
            "send",
            "setting",
            "source :: delivery",
            "source :: dicom",
            "source :: dicomweb"
        })
package dozo.archive;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
