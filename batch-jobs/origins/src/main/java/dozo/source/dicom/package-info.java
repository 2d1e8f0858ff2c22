/**
 * Reads the headers of DICOM files: what a scanner states about an image, without the image. Uses no library except the
 * JDK.
 */
@NullMarked
@NamedInterface("dicom")
package dozo.source.dicom;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.NamedInterface;
