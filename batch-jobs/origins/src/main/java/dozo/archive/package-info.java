/** Sends restored DICOM instances and sessions back into the archives, Flywheels and XNATs that experiments are collected from. */
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
            "source :: dicomweb",
            "source :: flywheel",
            "source :: xnat"
        })
package dozo.archive;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.ApplicationModule;
