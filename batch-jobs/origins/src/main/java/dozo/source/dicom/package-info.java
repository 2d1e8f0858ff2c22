/**
 * Reads the headers of DICOM files: what a scanner states about an image, without the image. Depends only on the JDK.
 */
@NullMarked
@NamedInterface("dicom")
package dozo.source.dicom;

import org.jspecify.annotations.NullMarked;
import org.springframework.modulith.NamedInterface;
