/** Reads an Orthanc by DICOMweb: finds stable studies and delivers their instances, byte for byte, into a folder. */
@NullMarked
@NamedInterface("dicomweb")
package dozo.source.dicomweb;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.NamedInterface;
