/** Reads an Orthanc by DICOMweb: learns which studies are stable, and brings their instances into a folder, each under its own bytes. */
@NullMarked
@NamedInterface("dicomweb")
package dozo.source.dicomweb;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.NamedInterface;
